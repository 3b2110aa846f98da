package bpmn

// Kind says what a node is. Events have one kind for each trigger, because each trigger is a behaviour of
// its own to an engine.
type Kind uint8

// The kinds of nodes. MultiInstance is not the kind of any node: it is what Validate asks about for a node
// that has a Loop, besides the node's own kind.
const (
	// Unsupported is an element of the standard that has no place in the model; Node.What names it.
	Unsupported Kind = iota

	NoneStartEvent
	MessageStartEvent
	TimerStartEvent
	ErrorStartEvent // of an event subprocess only

	NoneEndEvent
	TerminateEndEvent
	ErrorEndEvent
	MessageEndEvent

	MessageCatchEvent
	TimerCatchEvent
	NoneThrowEvent
	MessageThrowEvent

	MessageBoundaryEvent
	TimerBoundaryEvent
	ErrorBoundaryEvent

	Task
	ServiceTask
	UserTask
	ManualTask
	ReceiveTask
	SendTask
	ScriptTask
	BusinessRuleTask

	ExclusiveGateway
	ParallelGateway
	InclusiveGateway
	EventBasedGateway

	Subprocess
	EventSubprocess
	CallActivity

	MultiInstance

	kinds // the number of kinds
)

// String returns the kind's name in the words of the standard.
func (k Kind) String() string {
	names := [...]string{
		"unsupported element",
		"none start event", "message start event", "timer start event", "error start event",
		"none end event", "terminate end event", "error end event", "message end event",
		"message catch event", "timer catch event", "none throw event", "message throw event",
		"message boundary event", "timer boundary event", "error boundary event",
		"task", "service task", "user task", "manual task", "receive task", "send task", "script task",
		"business rule task",
		"exclusive gateway", "parallel gateway", "inclusive gateway", "event-based gateway",
		"subprocess", "event subprocess", "call activity", "multi-instance marker",
	}
	if int(k) < len(names) {
		return names[k]
	}
	return "unknown kind"
}

// a returns the kind's name with its article.
func (k Kind) a() string {
	name := k.String()
	return pick(name[0] == 'e' || name[0] == 'i' || name[0] == 'u', "an ", "a ") + name
}

// IsStart reports whether the kind is a start event.
func (k Kind) IsStart() bool { return k >= NoneStartEvent && k <= ErrorStartEvent }

// IsEnd reports whether the kind is an end event.
func (k Kind) IsEnd() bool { return k >= NoneEndEvent && k <= MessageEndEvent }

// IsBoundary reports whether the kind is a boundary event.
func (k Kind) IsBoundary() bool { return k >= MessageBoundaryEvent && k <= ErrorBoundaryEvent }

// IsTask reports whether the kind is a task.
func (k Kind) IsTask() bool { return k >= Task && k <= BusinessRuleTask }

// IsActivity reports whether the kind is a task, subprocess or call activity: what boundary events are
// attached to. An event subprocess is not.
func (k Kind) IsActivity() bool { return k.IsTask() || k == Subprocess || k == CallActivity }

// IsGateway reports whether the kind is a gateway.
func (k Kind) IsGateway() bool { return k >= ExclusiveGateway && k <= EventBasedGateway }

// IsScope reports whether nodes of the kind contain nodes.
func (k Kind) IsScope() bool { return k == Subprocess || k == EventSubprocess }

// CatchesMessage reports whether a node of the kind waits for, or is started by, a message.
func (k Kind) CatchesMessage() bool {
	switch k {
	case MessageStartEvent, MessageCatchEvent, MessageBoundaryEvent, ReceiveTask:
		return true
	default:
		return false
	}
}

// HasTimer reports whether a node of the kind has a timer.
func (k Kind) HasTimer() bool {
	switch k {
	case TimerStartEvent, TimerCatchEvent, TimerBoundaryEvent:
		return true
	default:
		return false
	}
}

// FirstSlice reports the kinds a first engine executes; it can be given to Load and Validate.
func FirstSlice(k Kind) bool {
	switch k {
	case NoneStartEvent, MessageStartEvent, NoneEndEvent, ServiceTask, UserTask, ReceiveTask, MessageCatchEvent,
		TimerCatchEvent, ExclusiveGateway:
		return true
	default:
		return false
	}
}
