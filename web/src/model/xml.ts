// Reads the small XML documents of S3. DOMParser is no choice: Trusted Types forbid it.

export interface XmlElement {
  name: string;
  text: string;
  children: XmlElement[];
}

const kEntities: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replace(/&(?:#x([0-9a-fA-F]+)|#(\d+)|(\w+));/g, (whole, hex, decimal, name) => {
    if (hex) return String.fromCodePoint(Number.parseInt(hex, 16));
    if (decimal) return String.fromCodePoint(Number(decimal));
    return kEntities[name] ?? whole;
  });
}

export function parseXml(text: string): XmlElement {
  const root: XmlElement = { name: "", text: "", children: [] };
  const open = [root];
  for (const [, closing, name, , empty, data] of text.matchAll(/<(\/?)([\w:.-]+)([^<>]*?)(\/?)>|([^<]+)/g)) {
    const parent = open.at(-1) ?? root;
    if (data !== undefined) parent.text += unescaped(data);
    else if (closing) open.pop();
    else if (name) {
      const element: XmlElement = { name, text: "", children: [] };
      parent.children.push(element);
      if (!empty) open.push(element);
    }
  }
  return root.children[0] ?? root;
}

export const childrenOf = (element: XmlElement, name: string): XmlElement[] =>
  element.children.filter((c) => c.name === name);
export const textOf = (element: XmlElement, name: string): string => childrenOf(element, name)[0]?.text ?? "";
