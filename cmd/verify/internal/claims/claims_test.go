package claims

import (
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAudit(t *testing.T) {
	evidence := map[string]bool{"L3/one": true, "verify crash": true}
	owners := map[string]bool{"L3": true}
	for _, c := range []struct{ name, text, want string }{
		{"good", "| K1 | a | L3 | `L3/one` `verify crash` | |", ""},
		{"unknown evidence", "| K1 | a | L3 | `L3/two` | |", "evidence L3/two does not exist"},
		{"unknown owner", "| K1 | a | L3 L9 | `L3/one` | |", "owner L9 is not registered"},
		{"no evidence", "| K1 | a | L3 | none | |", "no evidence"},
		{"columns", "| K1 | a | L3 | `L3/one` |", "4 columns"},
		{"twice", "| K1 | a | L3 | `L3/one` | |\n| K1 | b | L3 | `L3/one` | |", "used twice"},
		{"unclaimed owner", "| K1 | a | | `L3/one` | |", "no claim is about owner L3"},
		{"empty", "# nothing", "holds no claim"},
	} {
		var got []string
		for _, f := range audit(c.text, evidence, owners) {
			got = append(got, f.String())
		}
		all := strings.Join(got, "\n")
		if (c.want == "") != (all == "") || !strings.Contains(all, c.want) {
			t.Errorf("%s: faults %q, want %q", c.name, all, c.want)
		}
	}
}
