package storetest

import (
	"errors"
	"runtime"
	"strconv"

	"github.com/millrace-dev/millrace/core/store"
)

// Increment adds one to the number in the snapshot of the instance "i", in one step under its claim, and returns the sum. It is
// what owners that race for an instance do: comparing and writing must be one step.
func Increment(st store.Store, me store.Owner, cause string) (int, error) {
	const id = store.InstanceID("i")
	for {
		h, _, err := st.Head(nil, id)
		if err != nil {
			return 0, err
		}
		c, _, err := st.Take(nil, id, h.Epoch, me)
		if errors.Is(err, store.ErrConflict) {
			runtime.Gosched()
			continue
		}
		if err != nil {
			return 0, err
		}
		in, _, err := st.Load(nil, c)
		if err != nil {
			return 0, err
		}
		n, err := strconv.Atoi("0" + string(in.Snapshot))
		if err != nil {
			return 0, err
		}
		n++
		_, err = st.Commit(nil, &store.Step{Cause: cause, Claim: c, Status: store.Running, Snapshot: []byte(strconv.Itoa(n))})
		return n, err
	}
}
