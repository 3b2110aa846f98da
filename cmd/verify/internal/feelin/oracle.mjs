// Reads {"scope": …, "cases": [{"expression", "literal"}]} and answers, case by case, what the oracle makes of both.
import { evaluate } from "feelin";
import { readFileSync } from "node:fs";

const show = (value) =>
	JSON.stringify(value, (_, x) => (typeof x === "function" ? "function" : typeof x === "bigint" ? Number(x) : x)) ?? "null";

// Numbers of the oracle are binary: what differs in the last digits only is the same.
const same = (a, b) => {
	if (typeof a === "number" && typeof b === "number") return Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));
	if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((x, i) => same(x, b[i]));
	if (a && b && typeof a === "object" && typeof b === "object") {
		const keys = Object.keys(a);
		return keys.length === Object.keys(b).length && keys.every((k) => k in b && same(a[k], b[k]));
	}
	return a === b;
};

const value = (text, scope) => {
	const r = evaluate(text, scope);
	return JSON.parse(show(r && typeof r === "object" && "value" in r && "warnings" in r ? r.value : r));
};

const { scope, cases } = JSON.parse(readFileSync(0, "utf8"));
const answers = cases.map(({ expression, literal }) => {
	let theirs, ours;
	try {
		theirs = value(expression, scope);
	} catch (e) {
		return { refused: String(e.message) };
	}
	try {
		ours = value(literal, {});
	} catch (e) {
		return { refused: "our literal: " + String(e.message) };
	}
	return { same: same(theirs, ours), theirs: show(theirs) };
});
process.stdout.write(JSON.stringify(answers));
