// Package deploy decides which deployment of a package the lanes of a node work with, and changes it while they work.
//
// Its owner is L9, the activation flip: an activation makes every lane know the new definitions, makes the decision durable, and then
// lets all lanes spawn them by one publication. The deployment that was active before drains: its instances stay reachable until none is
// left, and then it retires.
//
// What definitions are, how a message gets into a lane's queue and how a decision becomes durable is the caller's: package engine
// does it with the queues of its router and with rows of its store.
package deploy
