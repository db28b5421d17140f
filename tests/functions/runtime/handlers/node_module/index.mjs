import { answer } from "./answer.mjs";

const ready = await Promise.resolve(true);

export const handler = async (event) => ({ answer, ready, event });
