// Package job holds what programs have in progress over the tool pipeline: their calls, which can go
// on without their callers until the person has answered, the limits of calls, and the files and
// commands that they have open. Every interface for programs runs its calls as jobs.
package job
