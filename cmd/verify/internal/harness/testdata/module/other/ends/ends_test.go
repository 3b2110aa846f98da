package ends

import "testing"

func TestOther(t *testing.T) {
	if testing.Short() {
		t.Error("short")
	}
}
