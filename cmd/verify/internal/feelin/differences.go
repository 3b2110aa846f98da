package feelin

// Difference is something that the oracle is known to see in another way. The generator leaves such forms out, and the example must
// differ, so that the list does not outlive its reasons.
type Difference struct{ Example, Reason string }

// Differences returns what is known. The tables of core/feel/testdata note others beside their lines.
func Differences() []Difference {
	return []Difference{
		{`-duration("P1D")`, "the oracle has no negation of durations; the standard has (table 57)"},
		{`duration("P1D") * 2`, "nor their multiplication by a number"},
		{`trim(" a ")`, "trim is of DMN 1.4 and not in the oracle"},
		{`is defined(amount)`, "likewise"},
		{`even(2.5)`, "what is not whole is neither even nor odd: null here, false there"},
		{`date(2.5, 5, 6)`, "a year of two and a half: null here, the year 2 there"},
		{`date("2024-05-06") + duration("PT3H")`, "a date plus a time of day: a date here, as the standard says, a date and time there"},
		{`years and months duration(date("2024-02-29"), date("2024-05-06"))`, "whole months here; the oracle keeps the days"},
		{`time("10:30:00Z") - time("00:00:00+02:00")`, "the oracle takes local times of day apart, whatever their offsets"},
		{`date and time("2024-06-01T08:00:00+02:00") - date and time("2024-06-01T08:00:00Z")`, "likewise for moments"},
		{`median([12.5, 1000, 100])`, "the oracle sorts numbers as texts"},
		{`5 between 9 and 1`, "the oracle swaps bounds that are the wrong way round"},
		{`sublist([], 1, 2)`, "outside of the list: null here, an empty list there"},
		{`remove([], 1)`, "likewise"},
		{`concatenate([1], null)`, "null is no list: null here, an item there"},
		{`{a: 100} in [1..10]`, "a context in a range of numbers: null here, true there"},
		{`[][null]`, "an index that is null selects nothing: an empty list here, null there"},
		{`[1] = []`, "lists of different lengths: false here, null there"},
		{`[null] = [1]`, "lists with different items: false here, null there when one is null"},
		{`string(1 / 3)`, "34 decimal digits here, a binary number there"},
		{`some x in [1] satisfies null`, "a quantifier over null: null here, false there"},
		{`before(null, 1)`, "null here, true there"},
		{`1 <= [2, 3]`, "a number beside a list: null here, the oracle fails"},
		{`@"10:00:00Z" < @"11:00:00Z" instance of boolean`, "instance of binds tighter than a comparison here, as in the standard"},
	}
}
