package bench

// published is what one strategy did on one program in the published comparison: trials that found the bug, of 20 of 10,000 schedules
// each, and the mean schedules to it.
type published struct{ found, mean int }

// publishedSCT is the table of Zhao et al. (ASPLOS 2025), whose SCTBench part these programs are; rows in the order random, pct3, pct10, pos,
// surw, urw.
var publishedSCT = map[string][6]published{
	"CS/twostage":                      {{20, 464}, {20, 13}, {20, 9}, {20, 15}, {20, 8}, {20, 9}},
	"CS/twostage_20":                   {{0, 0}, {20, 159}, {20, 101}, {20, 156}, {20, 6}, {20, 24}},
	"CS/twostage_50":                   {{0, 0}, {20, 1676}, {20, 692}, {20, 1637}, {20, 20}, {20, 93}},
	"CS/twostage_100":                  {{0, 0}, {3, 7466}, {9, 5726}, {3, 6674}, {20, 454}, {18, 2992}},
	"CS/reorder_3":                     {{0, 0}, {20, 185}, {20, 148}, {20, 86}, {20, 7}, {20, 24}},
	"CS/reorder_4":                     {{0, 0}, {20, 554}, {20, 362}, {20, 533}, {20, 7}, {20, 22}},
	"CS/reorder_5":                     {{0, 0}, {20, 647}, {20, 1094}, {20, 2169}, {20, 10}, {20, 27}},
	"CS/reorder_10":                    {{0, 0}, {16, 3225}, {12, 4462}, {0, 0}, {20, 17}, {20, 74}},
	"CS/reorder_20":                    {{0, 0}, {20, 3005}, {17, 3297}, {0, 0}, {20, 6}, {20, 10}},
	"CS/reorder_50":                    {{0, 0}, {6, 3304}, {1, 9422}, {0, 0}, {20, 13}, {20, 75}},
	"CS/reorder_100":                   {{0, 0}, {0, 0}, {0, 0}, {0, 0}, {20, 194}, {12, 3785}},
	"CS/stack":                         {{20, 176}, {20, 3}, {20, 3}, {20, 2}, {20, 5}, {19, 986}},
	"CS/token_ring":                    {{20, 13}, {20, 8}, {20, 8}, {20, 9}, {20, 8}, {20, 9}},
	"CS/lazy01":                        {{20, 21}, {20, 5}, {20, 5}, {20, 5}, {20, 2}, {20, 4}},
	"CS/deadlock01":                    {{20, 3}, {20, 13}, {20, 7}, {20, 4}, {20, 2}, {20, 3}},
	"CS/bluetooth_driver":              {{20, 215}, {20, 112}, {20, 83}, {20, 36}, {20, 70}, {19, 1494}},
	"CS/account":                       {{20, 18}, {20, 4}, {20, 4}, {20, 4}, {20, 6}, {20, 3}},
	"CS/wronglock":                     {{20, 36}, {20, 51}, {20, 20}, {20, 10}, {20, 7}, {20, 4}},
	"CS/wronglock_3":                   {{20, 36}, {20, 58}, {20, 14}, {20, 11}, {20, 9}, {20, 5}},
	"CB/stringbuffer-jdk1.4":           {{19, 2243}, {20, 281}, {20, 26}, {20, 23}, {20, 8}, {20, 834}},
	"Inspect_benchmarks/bbuf":          {{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}},
	"Inspect_benchmarks/boundedBuffer": {{20, 7}, {20, 20}, {20, 6}, {20, 5}, {20, 9}, {20, 7}},
	"Inspect_benchmarks/qsort_mt":      {{19, 3442}, {14, 4714}, {15, 3689}, {18, 3004}, {19, 3048}, {20, 297}},
}
