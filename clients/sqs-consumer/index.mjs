import helpers from "./index.cjs";

export const { Permanent, isRedrive, report, reportFailures } = helpers;
