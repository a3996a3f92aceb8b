// Package provision rents machines from providers. A provider is a program of its own in one folder
// (docs/providers.md). A [Manager] stores each step of a task before it begins it. After a restart it
// deletes what was being created, waits on for what was connecting, and continues to delete.
//
// A provider finds everything of a task by the task's ID, so that what it created in a moment in
// which it or the gateway was killed can be deleted.
package provision
