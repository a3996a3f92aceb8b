// Package feed follows the gateway for the windows: it holds the connection and one [Value] for each
// fact, such as the chats, the runs or the machines. A part of a window watches the facts that it
// shows, so a change wakes up only what shows it. All facts of a [Feed] share one lock: a picture of
// several facts, a [View], is consistent, and a snapshot changes all of them before any watcher
// sees one. The package contains no GUI toolkit. Unless documented as blocking, actions return at
// once; their results arrive as changed facts.
package feed
