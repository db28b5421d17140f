import type { Message } from "../../api/types.gen";

export interface EditProps {
  queue: string;
  message: Message;
  close: () => void;
  saved: () => void;
}
