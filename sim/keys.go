package sim

import "github.com/millrace-dev/millrace/core/sched"

// keys names objects by kind and name, which are the same in other executions; ids depend on the schedule. It
// remembers the keys of one execution by id.
type keys []uint64

func (k *keys) of(h *sched.Hook) uint64 {
	if h == nil {
		return 0
	}
	for int(h.ID) >= len(*k) {
		*k = append(*k, 0)
	}
	if (*k)[h.ID] == 0 {
		(*k)[h.ID] = hashText(mix(1, uint64(h.Kind), 0), h.Name) | 1
	}
	return (*k)[h.ID]
}

func hashText(h uint64, text string) uint64 {
	for i := range len(text) {
		h = mix(h, uint64(text[i]), 0)
	}
	return h
}
