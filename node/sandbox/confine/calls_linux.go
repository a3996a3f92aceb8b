package confine

// rule decides about a system call of a restricted thread, regardless of the network setting.
type rule int

const (
	// never fails with EPERM: the call inspects other processes or the kernel's keys of the user.
	never rule = iota
	// absent fails with ENOSYS, as on a kernel without the call: it reaches memory, semaphores or
	// queues of other programs of the user, and the objects that it creates outlive the command. A
	// separate name space would need a user name space, which many systems forbid.
	absent
	// ownProcess fails with EPERM unless its first argument is 0, the calling process or thread. A
	// filter cannot know which other numbers belong to the command, so a program that names itself
	// or one of its threads by number is refused too.
	ownProcess
	// ownGroup fails with EPERM unless its second argument is 0 and its first one does not mean all
	// processes of a user.
	ownGroup
)

// call is a system call with its rule and its numbers on the supported processors.
type call struct {
	name         string
	amd64, arm64 uint32
	rule         rule
}

var calls = []call{
	{"ptrace", 101, 117, never},
	{"process_vm_readv", 310, 270, never},
	{"process_vm_writev", 311, 271, never},
	{"pidfd_getfd", 438, 438, never},
	{"process_madvise", 440, 440, never},
	{"kcmp", 312, 272, never},
	{"perf_event_open", 298, 241, never},
	{"add_key", 248, 217, never},
	{"request_key", 249, 218, never},
	{"keyctl", 250, 219, never},
	{"shmget", 29, 194, absent},
	{"shmat", 30, 196, absent},
	{"shmctl", 31, 195, absent},
	{"semget", 64, 190, absent},
	{"semop", 65, 193, absent},
	{"semtimedop", 220, 192, absent},
	{"semctl", 66, 191, absent},
	{"msgget", 68, 186, absent},
	{"msgsnd", 69, 189, absent},
	{"msgrcv", 70, 188, absent},
	{"msgctl", 71, 187, absent},
	{"mq_open", 240, 180, absent},
	{"mq_unlink", 241, 181, absent},
	{"mq_timedsend", 242, 182, absent},
	{"mq_timedreceive", 243, 183, absent},
	{"mq_notify", 244, 184, absent},
	{"mq_getsetattr", 245, 185, absent},
	{"prlimit64", 302, 261, ownProcess},
	{"sched_setaffinity", 203, 122, ownProcess},
	{"sched_setscheduler", 144, 119, ownProcess},
	{"sched_setparam", 142, 118, ownProcess},
	{"sched_setattr", 314, 274, ownProcess},
	{"migrate_pages", 256, 238, ownProcess},
	{"move_pages", 279, 239, ownProcess},
	{"setpriority", 141, 140, ownGroup},
	{"ioprio_set", 251, 30, ownGroup},
}

// ofUser is the first argument of an ownGroup call that means all processes of a user: PRIO_USER
// and IOPRIO_WHO_USER.
var ofUser = map[string]uint32{"setpriority": 2, "ioprio_set": 3}
