package protocol

// Schedules (seed 004, cron.*).
var (
	CronStatusGet = Method[CronStatusParams, CronStatus]{"cron.status"}
	CronList      = Method[CronListParams, CronListResult]{"cron.list"}
	CronAdd       = Method[CronAddParams, CronJobResult]{"cron.add"}
	CronUpdate    = Method[CronUpdateParams, CronJobResult]{"cron.update"}
	CronRemove    = Method[CronJobParams, CronRemoveResult]{"cron.remove"}
	CronRunNow    = Method[CronRunParams, CronRunNowResult]{"cron.run"}
	CronRuns      = Method[CronRunsParams, CronRunsResult]{"cron.runs"}
)

// CronJobID names a job.
type CronJobID string

// Kinds of schedule.
const (
	CronAt    = "at"
	CronEvery = "every"
	CronExpr  = "cron"
)

// Modes of a job.
const (
	CronSystemEvent = "systemEvent"
	CronTask        = "task"
)

// Ends of a job's run. A client of the seed knows the first three only: the fourth is said only to one that asked not to wait.
const (
	CronOK      = "ok"
	CronError   = "error"
	CronSkipped = "skipped"
	CronRunning = "running"
)

// What becomes of the times at which the gateway was off or the machine slept (extension).
const (
	MissedSkip   = "skip"
	MissedLatest = "latest" // one run for all of them, the default
	MissedAll    = "all"
	MissedAsk    = "ask" // the person says
)

// CronSchedule says when. Kind says which fields are set.
type CronSchedule struct {
	Kind     string `json:"kind"`
	AtMs     *int64 `json:"atMs,omitempty"`     // at
	EveryMs  int64  `json:"everyMs,omitempty"`  // every
	AnchorMs *int64 `json:"anchorMs,omitempty"` // every
	Expr     string `json:"expr,omitempty"`     // cron, five fields
	TZ       string `json:"tz,omitempty"`       // cron, IANA; empty is the person's zone

	CronWritten
}

// CronWritten is a time as a person writes it, in place of milliseconds, for cron.add and cron.update as for gsv__Cron (extension). A job never has it.
type CronWritten struct {
	At           string  `json:"at,omitempty"`           // at: "2026-03-29T09:00", "in 2 hours", "tomorrow 9am"
	In           string  `json:"in,omitempty"`           // at: "30 minutes"
	EveryMinutes float64 `json:"everyMinutes,omitempty"` // every
	EveryHours   float64 `json:"everyHours,omitempty"`   // every
	EveryDays    float64 `json:"everyDays,omitempty"`    // every
	Anchor       string  `json:"anchor,omitempty"`       // every
}

// CronMode says what is done. Mode says which fields are set.
type CronMode struct {
	Mode string `json:"mode"`
	Text string `json:"text,omitempty"` // systemEvent

	// Of a task. Deliver is true when it is absent. TimeoutSeconds 0 is no limit.
	Message           string `json:"message,omitempty"`
	Model             string `json:"model,omitempty"` // provider/id
	Thinking          string `json:"thinking,omitempty"`
	TimeoutSeconds    int    `json:"timeoutSeconds,omitempty"`
	Deliver           *bool  `json:"deliver,omitempty"`
	Channel           string `json:"channel,omitempty"`
	To                string `json:"to,omitempty"`
	BestEffortDeliver *bool  `json:"bestEffortDeliver,omitempty"`
}

// CronJobState is where a job stands. Times are Unix milliseconds, absent is never.
type CronJobState struct {
	NextRunAtMs    int64  `json:"nextRunAtMs,omitempty"`
	RunningAtMs    int64  `json:"runningAtMs,omitempty"`
	LastRunAtMs    int64  `json:"lastRunAtMs,omitempty"`
	LastStatus     string `json:"lastStatus,omitempty"`
	LastError      string `json:"lastError,omitempty"`
	LastDurationMs *int64 `json:"lastDurationMs,omitempty"`
}

// CronJob is a job of seed 004.
type CronJob struct {
	ID             CronJobID    `json:"id"`
	AgentID        AgentID      `json:"agentId"`
	Name           string       `json:"name"`
	Description    string       `json:"description,omitempty"`
	Enabled        bool         `json:"enabled"`
	DeleteAfterRun bool         `json:"deleteAfterRun,omitempty"`
	CreatedAtMs    int64        `json:"createdAtMs"`
	UpdatedAtMs    int64        `json:"updatedAtMs"`
	Schedule       CronSchedule `json:"schedule"`
	Spec           CronMode     `json:"spec"`
	State          CronJobState `json:"state"`
	Missed         string       `json:"missed,omitempty"` // extension
}

// CronStatusParams may name an agent (extension, seed 002).
type CronStatusParams struct {
	AgentID AgentID `json:"agentId,omitempty"`
}

// CronStatus is cron.status of seed 004.
type CronStatus struct {
	Enabled           bool  `json:"enabled"`
	Count             int   `json:"count"`
	DueCount          int   `json:"dueCount"`
	RunningCount      int   `json:"runningCount"`
	NextRunAtMs       int64 `json:"nextRunAtMs,omitempty"`
	MaxJobs           int   `json:"maxJobs"`
	MaxConcurrentRuns int   `json:"maxConcurrentRuns"`
}

// CronListParams asks for a page of the jobs. Disabled ones are among them unless IncludeDisabled is false, as in the original.
type CronListParams struct {
	AgentID         AgentID `json:"agentId,omitempty"`
	IncludeDisabled *bool   `json:"includeDisabled,omitempty"`
	Limit           *int    `json:"limit,omitempty"` // 1 to 500, default 200
	Offset          int     `json:"offset,omitempty"`
}

// CronListResult is a page; Count is how many there are in all. Order is by the next run; jobs without one come last.
type CronListResult struct {
	Jobs  []CronJob `json:"jobs"`
	Count int       `json:"count"`
}

// CronAddParams is CronJobCreate of seed 004.
type CronAddParams struct {
	AgentID        AgentID       `json:"agentId,omitempty"`
	Name           string        `json:"name"`
	Description    string        `json:"description,omitempty"`
	Enabled        *bool         `json:"enabled,omitempty"`
	DeleteAfterRun bool          `json:"deleteAfterRun,omitempty"`
	Schedule       *CronSchedule `json:"schedule"`
	Spec           *CronMode     `json:"spec"`
	Missed         string        `json:"missed,omitempty"` // extension
}

// CronJobResult answers cron.add and cron.update.
type CronJobResult struct {
	OK  bool    `json:"ok"`
	Job CronJob `json:"job"`
}

// CronUpdateParams changes a job.
type CronUpdateParams struct {
	ID    CronJobID     `json:"id"`
	Patch *CronJobPatch `json:"patch"`
}

// CronJobPatch of seed 004: nil leaves a field alone. A schedule is replaced as a whole.
type CronJobPatch struct {
	AgentID        *AgentID       `json:"agentId,omitempty"`
	Name           *string        `json:"name,omitempty"`
	Description    *string        `json:"description,omitempty"`
	Enabled        *bool          `json:"enabled,omitempty"`
	DeleteAfterRun *bool          `json:"deleteAfterRun,omitempty"`
	Schedule       *CronSchedule  `json:"schedule,omitempty"`
	Spec           *CronModePatch `json:"spec,omitempty"`
	Missed         *string        `json:"missed,omitempty"` // extension
}

// CronModePatch of seed 004: merged into a spec of the same mode; one of another mode replaces it.
type CronModePatch struct {
	Mode              string  `json:"mode"`
	Text              *string `json:"text,omitempty"`
	Message           *string `json:"message,omitempty"`
	Model             *string `json:"model,omitempty"`
	Thinking          *string `json:"thinking,omitempty"`
	TimeoutSeconds    *int    `json:"timeoutSeconds,omitempty"`
	Deliver           *bool   `json:"deliver,omitempty"`
	Channel           *string `json:"channel,omitempty"`
	To                *string `json:"to,omitempty"`
	BestEffortDeliver *bool   `json:"bestEffortDeliver,omitempty"`
}

// CronJobParams names a job.
type CronJobParams struct {
	ID CronJobID `json:"id"`
}

// CronRemoveResult says whether there was such a job.
type CronRemoveResult struct {
	OK      bool `json:"ok"`
	Removed bool `json:"removed"`
}

// Modes of cron.run.
const (
	CronRunDue   = "due"
	CronRunForce = "force"
)

// CronRunParams starts jobs now: those that are due, or with force the one named, whether due, enabled or not.
type CronRunParams struct {
	ID   CronJobID `json:"id,omitempty"`
	Mode string    `json:"mode,omitempty"`
	// Wait false answers once the runs are written down, with the status "running" (extension). The default waits for their ends.
	Wait *bool `json:"wait,omitempty"`
}

// CronRunNowResult is cron.run of seed 004.
type CronRunNowResult struct {
	OK      bool            `json:"ok"`
	Ran     int             `json:"ran"`
	Results []CronRunResult `json:"results"`
}

// CronRunResult is how one job's run went.
type CronRunResult struct {
	JobID       CronJobID `json:"jobId"`
	Status      string    `json:"status"`
	Error       string    `json:"error,omitempty"`
	Summary     string    `json:"summary,omitempty"`
	DurationMs  int64     `json:"durationMs"`
	NextRunAtMs int64     `json:"nextRunAtMs,omitempty"`
}

// CronRunsParams asks for a page of the history, newest first.
type CronRunsParams struct {
	JobID  CronJobID `json:"jobId,omitempty"`
	Limit  *int      `json:"limit,omitempty"` // 1 to 2000, default 200
	Offset int       `json:"offset,omitempty"`
}

// CronRunsResult is a page; Count is how many there are in all.
type CronRunsResult struct {
	Runs  []CronRun `json:"runs"`
	Count int       `json:"count"`
}

// CronRun is a run that has ended, or was left out.
type CronRun struct {
	ID          int64      `json:"id"`
	JobID       CronJobID  `json:"jobId"`
	Ts          int64      `json:"ts"` // when it began
	Status      string     `json:"status"`
	Error       string     `json:"error,omitempty"`
	Summary     string     `json:"summary,omitempty"`
	DurationMs  int64      `json:"durationMs"`
	NextRunAtMs int64      `json:"nextRunAtMs,omitempty"`
	DueAtMs     int64      `json:"dueAtMs,omitempty"`    // absent when a person started it (extension)
	SessionKey  SessionKey `json:"sessionKey,omitempty"` // extension
	RunID       RunID      `json:"runId,omitempty"`      // extension
}
