// Whether the palette is open, and with what it begins.

import { signal } from "@preact/signals";

export const paletteText = signal<string | undefined>(undefined);

export function openPalette(text: string): void {
  paletteText.value = text;
}

export function closePalette(): void {
  paletteText.value = undefined;
}
