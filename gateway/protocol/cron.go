package protocol

import "cmp"

// Schedules.
var (
	CronStatusGet = Method[CronStatusParams, CronStatus]{"cron.status", ScopeRead, clients, gsv}
	CronList      = Method[CronListParams, CronListResult]{"cron.list", ScopeRead, clients, gsv}
	CronAdd       = Method[CronAddParams, CronJobResult]{"cron.add", ScopeChat, clients, gsv}
	CronUpdate    = Method[CronUpdateParams, CronJobResult]{"cron.update", ScopeChat, clients, gsv}
	CronRemove    = Method[CronJobParams, CronRemoveResult]{"cron.remove", ScopeChat, clients, gsv}
	CronRunNow    = Method[CronRunParams, CronRunNowResult]{"cron.run", ScopeChat, clients, gsv}
	CronRuns      = Method[CronRunsParams, CronRunsResult]{"cron.runs", ScopeRead, clients, gsv}
	CronPreview   = Method[CronPreviewParams, CronPreviewResult]{"cron.preview", ScopeRead, clients, extension}
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

// Results of a job's run. CronRunning is an extension, for callers that asked not to wait.
const (
	CronOK      = "ok"
	CronError   = "error"
	CronSkipped = "skipped"
	CronRunning = "running"
)

// What to do about times that were missed while the gateway was off or asleep (extension).
const (
	MissedSkip   = "skip"
	MissedLatest = "latest" // one run for all missed times; the default
	MissedAll    = "all"
	MissedAsk    = "ask" // ask the person
)

// Results of which the person is notified (extension).
const (
	NotifyAlways = "always"
	NotifyNews   = "news" // when the agent has something to say, or failed
	NotifyNever  = "never"
)

// Notifies returns of which results the person is notified.
func (j CronJob) Notifies() string {
	if j.Notify == "" && j.Spec.Deliver != nil && !*j.Spec.Deliver {
		return NotifyNever
	}
	return cmp.Or(j.Notify, NotifyAlways)
}

// CronSchedule describes when a job runs. Kind determines which fields are set.
type CronSchedule struct {
	Kind     string `json:"kind"`               // at, every or cron
	AtMs     *int64 `json:"atMs,omitempty"`     // at
	EveryMs  int64  `json:"everyMs,omitempty"`  // every
	AnchorMs *int64 `json:"anchorMs,omitempty"` // every
	// Expr is a cron expression of five fields. As an extension, the day of the month may be L, the
	// last one, and several expressions may be separated by semicolons.
	Expr string `json:"expr,omitempty"`
	TZ   string `json:"tz,omitempty"` // cron, IANA name; empty is the person's time zone

	CronWritten
}

// CronWritten is a time as a person writes it, instead of milliseconds. cron.add, cron.update and
// gsv__Cron accept it (extension). The gateway converts it, so a stored job never has it.
type CronWritten struct {
	At           string  `json:"at,omitempty"`           // at: "2026-03-29T09:00", "in 2 hours", "tomorrow 9am"
	In           string  `json:"in,omitempty"`           // at: "30 minutes"
	EveryMinutes float64 `json:"everyMinutes,omitempty"` // every
	EveryHours   float64 `json:"everyHours,omitempty"`   // every
	EveryDays    float64 `json:"everyDays,omitempty"`    // every
	Anchor       string  `json:"anchor,omitempty"`       // every
}

// CronMode describes the work of a job. Mode determines which fields are set.
type CronMode struct {
	Mode string `json:"mode"`           // systemEvent or task
	Text string `json:"text,omitempty"` // systemEvent

	// Fields of a task. Deliver defaults to true. TimeoutSeconds 0 means no limit.
	Message           string `json:"message,omitempty"`
	Model             string `json:"model,omitempty"` // provider/id
	Thinking          string `json:"thinking,omitempty"`
	TimeoutSeconds    int    `json:"timeoutSeconds,omitempty"`
	Deliver           *bool  `json:"deliver,omitempty"`
	Channel           string `json:"channel,omitempty"`
	To                string `json:"to,omitempty"`
	BestEffortDeliver *bool  `json:"bestEffortDeliver,omitempty"`
}

// CronJobState is the state of a job. Times are Unix milliseconds; a missing time means never.
type CronJobState struct {
	NextRunAtMs    int64  `json:"nextRunAtMs,omitempty"`
	RunningAtMs    int64  `json:"runningAtMs,omitempty"`
	LastRunAtMs    int64  `json:"lastRunAtMs,omitempty"`
	LastStatus     string `json:"lastStatus,omitempty"` // ok, error, skipped or running
	LastError      string `json:"lastError,omitempty"`
	LastDurationMs *int64 `json:"lastDurationMs,omitempty"`
	// NeedsApproval is set while the job's run waits for an approval (extension).
	NeedsApproval bool `json:"needsApproval,omitempty"`
}

// CronJob is a scheduled job.
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
	Missed         string       `json:"missed,omitempty"` // skip, latest (default), all or ask (extension)
	// Notify tells of which results the person is notified: always, news or never (extension). The
	// default is always, or never for a task with Deliver false.
	Notify string `json:"notify,omitempty"`
	// Note says what the schedule may mean unexpectedly. Only lists have it (extension).
	Note string `json:"note,omitempty"`
}

// CronPreviewParams asks for the next runs of a schedule that need not be stored (extension).
type CronPreviewParams struct {
	Schedule *CronSchedule `json:"schedule"`
	Count    int           `json:"count,omitempty"` // 1 to 50, default 3
}

// CronPreviewResult answers cron.preview (extension).
type CronPreviewResult struct {
	Schedule   CronSchedule `json:"schedule"`   // as it would be stored
	TimeZone   string       `json:"timeZone"`   // of a cron schedule: its own, or the person's
	NextRunsMs []int64      `json:"nextRunsMs"` // fewer than Count if it ends
}

// CronStatusParams selects an agent (extension).
type CronStatusParams struct {
	AgentID AgentID `json:"agentId,omitempty"`
}

// CronStatus answers cron.status.
type CronStatus struct {
	Enabled           bool  `json:"enabled"`
	Count             int   `json:"count"`
	DueCount          int   `json:"dueCount"`
	RunningCount      int   `json:"runningCount"`
	NextRunAtMs       int64 `json:"nextRunAtMs,omitempty"`
	MaxJobs           int   `json:"maxJobs"`
	MaxConcurrentRuns int   `json:"maxConcurrentRuns"`
}

// CronListParams requests a page of the jobs. Disabled jobs are included unless IncludeDisabled is
// false, as GSV does.
type CronListParams struct {
	AgentID         AgentID `json:"agentId,omitempty"`
	IncludeDisabled *bool   `json:"includeDisabled,omitempty"`
	Limit           *int    `json:"limit,omitempty"` // 1 to 500, default 200
	Offset          int     `json:"offset,omitempty"`
}

// CronListResult is a page of jobs; Count is the total. Jobs are sorted by their next run; jobs
// without one come last.
type CronListResult struct {
	Jobs  []CronJob `json:"jobs"`
	Count int       `json:"count"`
}

// CronAddParams creates a job.
type CronAddParams struct {
	AgentID        AgentID       `json:"agentId,omitempty"`
	Name           string        `json:"name"`
	Description    string        `json:"description,omitempty"`
	Enabled        *bool         `json:"enabled,omitempty"`
	DeleteAfterRun bool          `json:"deleteAfterRun,omitempty"`
	Schedule       *CronSchedule `json:"schedule"`
	Spec           *CronMode     `json:"spec"`
	Missed         string        `json:"missed,omitempty"` // skip, latest (default), all or ask (extension)
	Notify         string        `json:"notify,omitempty"` // always, news or never (extension)
}

// CronJobResult answers cron.add and cron.update.
type CronJobResult struct {
	OK   bool    `json:"ok"`
	Job  CronJob `json:"job"`
	Note string  `json:"note,omitempty"` // what its schedule may mean unexpectedly (extension)
}

// CronUpdateParams changes a job.
type CronUpdateParams struct {
	ID    CronJobID     `json:"id"`
	Patch *CronJobPatch `json:"patch"`
}

// CronJobPatch changes a job: a missing field stays as it is. Schedule replaces the whole schedule.
type CronJobPatch struct {
	AgentID        *AgentID       `json:"agentId,omitempty"`
	Name           *string        `json:"name,omitempty"`
	Description    *string        `json:"description,omitempty"`
	Enabled        *bool          `json:"enabled,omitempty"`
	DeleteAfterRun *bool          `json:"deleteAfterRun,omitempty"`
	Schedule       *CronSchedule  `json:"schedule,omitempty"`
	Spec           *CronModePatch `json:"spec,omitempty"`
	Missed         *string        `json:"missed,omitempty"` // skip, latest, all or ask (extension)
	Notify         *string        `json:"notify,omitempty"` // always, news or never (extension)
}

// CronModePatch changes the work of a job. A patch with the job's mode is merged into it; a patch
// with another mode replaces it.
type CronModePatch struct {
	Mode              string  `json:"mode"` // systemEvent or task
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

// CronRemoveResult reports whether the job existed.
type CronRemoveResult struct {
	OK      bool `json:"ok"`
	Removed bool `json:"removed"`
}

// Modes of cron.run.
const (
	CronRunDue   = "due"
	CronRunForce = "force"
)

// CronRunParams starts jobs now: the due ones, or with the mode "force" the job ID, even if it is
// disabled or not due.
type CronRunParams struct {
	ID   CronJobID `json:"id,omitempty"`
	Mode string    `json:"mode,omitempty"` // due (default) or force
	// Wait set to false answers as soon as the runs are stored, with the status "running"
	// (extension). By default the answer comes when all runs have finished.
	Wait *bool `json:"wait,omitempty"`
}

// CronRunNowResult answers cron.run.
type CronRunNowResult struct {
	OK      bool            `json:"ok"`
	Ran     int             `json:"ran"`
	Results []CronRunResult `json:"results"`
}

// CronRunResult is the result of one job's run.
type CronRunResult struct {
	JobID       CronJobID `json:"jobId"`
	Status      string    `json:"status"` // ok, error, skipped or running
	Error       string    `json:"error,omitempty"`
	Summary     string    `json:"summary,omitempty"`
	DurationMs  int64     `json:"durationMs"`
	NextRunAtMs int64     `json:"nextRunAtMs,omitempty"`
}

// CronRunsParams requests a page of the history, newest first.
type CronRunsParams struct {
	JobID  CronJobID `json:"jobId,omitempty"`
	Limit  *int      `json:"limit,omitempty"` // 1 to 2000, default 200
	Offset int       `json:"offset,omitempty"`
}

// CronRunsResult is a page of runs; Count is the total.
type CronRunsResult struct {
	Runs  []CronRun `json:"runs"`
	Count int       `json:"count"`
}

// CronRun is a finished or skipped run.
type CronRun struct {
	ID          int64      `json:"id"`
	JobID       CronJobID  `json:"jobId"`
	Ts          int64      `json:"ts"`     // start time
	Status      string     `json:"status"` // ok, error, skipped or running
	Error       string     `json:"error,omitempty"`
	Summary     string     `json:"summary,omitempty"`
	DurationMs  int64      `json:"durationMs"`
	NextRunAtMs int64      `json:"nextRunAtMs,omitempty"`
	DueAtMs     int64      `json:"dueAtMs,omitempty"`    // missing when a person started it (extension)
	SessionKey  SessionKey `json:"sessionKey,omitempty"` // extension
	RunID       RunID      `json:"runId,omitempty"`      // extension
	// Denied is the number of the run's calls that a person or a rule denied (extension).
	Denied int `json:"denied,omitempty"`
}
