package programs

// Optima are programs with the number of their Mazurkiewicz traces, computed by hand or published: as many executions an
// exhaustive search needs, and no more.
var Optima = []struct {
	Name   string
	Body   Body
	Traces int
}{
	{"SB", StoreBuffering, 3},
	{"MP", MessagePassing, 3},
	{"LB", LoadBuffering, 3},
	{"CoRR", CoherentReads, 3},
	{"fetch_add 2x1", FetchAdd(2, 1), 2},
	{"fetch_add 2x2", FetchAdd(2, 2), 6},
	{"fetch_add 2x3", FetchAdd(2, 3), 20},
	{"fetch_add 2x4", FetchAdd(2, 4), 70},
	{"fetch_add 3x1", FetchAdd(3, 1), 6},
	{"fetch_add 3x2", FetchAdd(3, 2), 90},
	{"fetch_add 3x3", FetchAdd(3, 3), 1680},
	{"fetch_add 4x2", FetchAdd(4, 2), 2520},
	{"increment 2x1", Increment(2, 1), 4},
	{"increment 2x2", Increment(2, 2), 34},
	{"increment 2x3", Increment(2, 3), 328},
	{"load only 3x2", LoadOnly(3, 2), 1},
	{"lock 2x1", Lock(2, 1), 2},
	{"yield 3x3", Yield(3, 3), 1},
}
