// Package task decides who may settle an external task: work that a flow hands to a worker outside of the node.
//
// A worker fetches and locks a task for a time. Until then it alone may complete the task, fail it or prolong the lock; after
// that the task is offered again, and what the first worker still says is refused. The owner is [Lease] (L12). A lease is a value
// that lives in the snapshot of its instance, so it changes under the claim of the instance and in the step's transaction,
// like everything else that an instance is.
package task
