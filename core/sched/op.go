package sched

// Kind is the kind of a shared object.
type Kind uint8

// The kinds of objects.
const (
	KindNone Kind = iota
	KindTask
	KindAtomic
	KindPublication
	KindMutex
	KindRWMutex
	KindCond
	KindOnce
	KindWaitGroup
	KindSemaphore
	KindChan
	KindNotify
	KindWatch
	KindWriteOnce
	KindTimer
	KindScope
	KindRand
	KindCell
	KindExternal
)

var kindNames = [...]string{
	"none", "task", "atomic", "publication", "mutex", "rwmutex", "cond", "once", "waitgroup", "semaphore",
	"chan", "notify", "watch", "writeonce", "timer", "scope", "rand", "cell", "external",
}

// String returns the kind's name as traces show it.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Op is an operation on a shared object.
type Op uint8

// The operations. The comment names what each orders: acq takes the object's clock, rel gives the task's
// clock to it (joining), set replaces the object's clock.
const (
	OpNone Op = iota
	OpYield
	OpStart    // a task begins
	OpEnd      // a task ended
	OpLoad     // acq
	OpStore    // set
	OpSwap     // acq, rel
	OpAdd      // acq, rel
	OpAnd      // acq, rel
	OpOr       // acq, rel
	OpCAS      // acq; rel when it succeeds
	OpLock     // acq
	OpTryLock  // acq when it succeeds
	OpUnlock   // rel
	OpRLock    // acq from writers
	OpTryRLock // acq from writers when it succeeds
	OpRUnlock  // rel towards writers
	OpIntend   // a writer announces itself; new readers wait
	OpWait     // acq from the waker
	OpSignal   // rel to one waiter
	OpBroadcast
	OpOnce    // acq; rel when done
	OpWGAdd   // rel when it counts down
	OpWGWait  // acq
	OpAcquire // acq
	OpRelease // rel
	OpSend    // rel to the receiver; acq from the slot's earlier receiver
	OpRecv    // acq
	OpClose   // rel
	OpLen
	OpSet       // rel
	OpGet       // acq
	OpSubscribe // acq
	OpRegister  // acq when it finds what it would wait for
	OpDrop
	OpCancel // rel
	OpDone   // acq: the scope ended
	OpArm    // rel to the fire
	OpStop
	OpFire
	OpSleep
	OpRead
	OpWrite
	OpChoose
	OpExternal
	OpEvent
)

var opNames = [...]string{
	"none", "yield", "start", "end", "load", "store", "swap", "add", "and", "or", "cas", "lock", "trylock", "unlock",
	"rlock", "tryrlock", "runlock", "intend", "wait", "signal", "broadcast", "once", "wgadd", "wgwait", "acquire",
	"release", "send", "recv", "close", "len", "set", "get", "subscribe", "register", "drop", "cancel", "done", "arm",
	"stop", "fire", "sleep", "read", "write", "choose", "external", "event",
}

// String returns the operation's name as traces show it.
func (o Op) String() string {
	if int(o) < len(opNames) {
		return opNames[o]
	}
	return "unknown"
}
