// Writes src/api/types.gen.ts from docs/openapi.yaml: an interface for each schema, and for each operation whose
// answer is described in place a type named after it (showOverview → ShowOverviewAnswer).
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

const file = (path) => fileURLToPath(new URL(path, import.meta.url));
const api = parse(readFileSync(file("../../docs/openapi.yaml"), "utf8"));
const capital = (name) => name[0].toUpperCase() + name.slice(1);
const word = (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

function typeOf(schema, indent) {
  if (!schema) return "unknown";
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.allOf) return schema.allOf.map((s) => typeOf(s, indent)).join(" & ");
  if (schema.oneOf || schema.anyOf) return (schema.oneOf ?? schema.anyOf).map((s) => typeOf(s, indent)).join(" | ");
  const nullable = schema.nullable ? " | null" : "";
  if (schema.enum) return schema.enum.map((v) => JSON.stringify(v)).join(" | ") + nullable;
  switch (schema.type) {
    case "integer":
    case "number":
      return `number${nullable}`;
    case "boolean":
      return `boolean${nullable}`;
    case "string":
      return `string${nullable}`;
    case "array": {
      const item = typeOf(schema.items, indent);
      return `${/[|&]/.test(item) && !item.startsWith("{") ? `(${item})` : item}[]${nullable}`;
    }
    default:
      return objectType(schema, indent) + nullable;
  }
}

function objectType(schema, indent) {
  if (!schema.properties) {
    const values = schema.additionalProperties;
    return values && values !== true ? `Record<string, ${typeOf(values, indent)}>` : "Record<string, unknown>";
  }
  const required = new Set(schema.required ?? []);
  const inner = `${indent}  `;
  const members = Object.entries(schema.properties).map(([name, member]) => {
    const comment = member.description ? `${inner}/** ${oneLine(member.description)} */\n` : "";
    return `${comment}${inner}${word(name)}${required.has(name) ? "" : "?"}: ${typeOf(member, inner)};\n`;
  });
  return `{\n${members.join("")}${indent}}`;
}

const oneLine = (text) => text.trim().replace(/\s+/g, " ").replaceAll("*/", "*\\/");

const out = ["// Made from docs/openapi.yaml by scripts/types_from_openapi.mjs; do not edit.\n"];
for (const [name, schema] of Object.entries(api.components.schemas)) {
  const comment = schema.description ? `/** ${oneLine(schema.description)} */\n` : "";
  const type = typeOf(schema, "");
  out.push(
    type.startsWith("{") && !/[|&] /.test(type.split("\n").pop())
      ? `${comment}export interface ${name} ${type}\n`
      : `${comment}export type ${name} = ${type};\n`,
  );
}
for (const path of Object.values(api.paths)) {
  for (const operation of Object.values(path)) {
    const schema = operation.responses?.["200"]?.content?.["application/json"]?.schema;
    if (!operation.operationId || !schema || schema.$ref) continue;
    out.push(`export type ${capital(operation.operationId)}Answer = ${typeOf(schema, "")};\n`);
  }
}
writeFileSync(file("../src/api/types.gen.ts"), out.join("\n"));
