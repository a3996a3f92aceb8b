package store

import (
	"context"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// Job is a scheduled job with the scheduler's internal state. Times are Unix milliseconds, 0
// means never.
type Job struct {
	protocol.CronJob
	Base    int64 // start of an interval without an anchor
	LastDue int64 // the last due time that was handled
}

// JobRun is one run of a job; EndedAt 0 means that it has not ended.
type JobRun struct {
	ID        int64               `gorm:"primaryKey;autoIncrement"` // set by the store
	Job       protocol.CronJobID  `gorm:"column:job_id"`
	Due       int64               `gorm:"column:due_at"` // 0 if a person started it
	Session   protocol.SessionKey `gorm:"column:session_key"`
	Run       protocol.RunID      `gorm:"column:run_id"`
	StartedAt int64
	EndedAt   int64
	Status    string // a protocol.Cron constant
	Error     string
	Summary   string
	NextRunAt int64
}

func (JobRun) TableName() string { return "cron_runs" }

// Jobs are the scheduled jobs and their runs.
type Jobs struct{ *conn }

type jobRow struct {
	ID        protocol.CronJobID
	BaseAt    int64
	LastDueAt int64
	Job       protocol.CronJob `gorm:"column:json;serializer:json"`
}

func (jobRow) TableName() string { return "cron_jobs" }

// List returns every job, in no order.
func (s *Jobs) List(ctx context.Context) ([]Job, error) {
	rows, err := find[jobRow](ctx, s.conn, "read jobs", func(db *gorm.DB) *gorm.DB { return db })
	return convert(rows, func(r jobRow) Job { return Job{r.Job, r.BaseAt, r.LastDueAt} }), err
}

// Put stores a new or changed job.
func (s *Jobs) Put(ctx context.Context, j Job) error {
	return s.write(ctx, "store job", func(tx *gorm.DB) error { return putJob(tx, j) })
}

func putJob(tx *gorm.DB, j Job) error {
	return upsert(tx, &jobRow{j.ID, j.Base, j.LastDue, j.CronJob})
}

// Delete deletes a job with its history.
func (s *Jobs) Delete(ctx context.Context, id protocol.CronJobID) error {
	return s.write(ctx, "remove job", func(tx *gorm.DB) error {
		if err := tx.Where("id = ?", string(id)).Delete(&jobRow{}).Error; err != nil {
			return err
		}
		return tx.Where("job_id = ?", string(id)).Delete(&JobRun{}).Error
	})
}

// StartRun stores the start of a run of j, together with the new state of j, and returns the
// run with its ID. A second run for one due time fails with protocol.ErrConflict. A skipped run is
// stored with its end.
func (s *Jobs) StartRun(ctx context.Context, j Job, r JobRun) (JobRun, error) {
	err := s.write(ctx, "start job", func(tx *gorm.DB) error {
		r.ID = 0
		if err := tx.Create(&r).Error; err != nil {
			return err
		}
		return putJob(tx, j)
	})
	return r, err
}

// EndRun stores the end of a run, together with the new state of j; if remove is set, it
// deletes j instead. All but the newest keep runs of the job are deleted, with their messages in
// the job's own chat.
func (s *Jobs) EndRun(ctx context.Context, j Job, r JobRun, keep int, remove bool) error {
	return s.write(ctx, "end job", func(tx *gorm.DB) error {
		if err := tx.Model(&JobRun{}).Where("id = ?", r.ID).Select("*").Omit("id").Updates(&r).Error; err != nil {
			return err
		}
		if remove {
			if err := tx.Where("id = ?", string(j.ID)).Delete(&jobRow{}).Error; err != nil {
				return err
			}
		} else if err := putJob(tx, j); err != nil {
			return err
		}
		return deleteOldRuns(tx, j.ID, keep)
	})
}

// DeleteRun deletes a run whose job no longer exists.
func (s *Jobs) DeleteRun(ctx context.Context, id int64) error {
	return s.write(ctx, "delete run of a job", func(tx *gorm.DB) error { return tx.Delete(&JobRun{}, id).Error })
}

// deleteOldRuns deletes the oldest runs of a job. Their messages go too, if they are in the chat of
// the job, which would otherwise grow without limit.
func deleteOldRuns(tx *gorm.DB, job protocol.CronJobID, keep int) error {
	var old []JobRun
	err := tx.Where("job_id = ? AND ended_at > 0", string(job)).Order("id DESC").Offset(keep).Limit(-1).Find(&old).Error
	if err != nil || len(old) == 0 {
		return err
	}
	for _, r := range old {
		if r.Session.Schedule() != job || r.Run == "" {
			continue
		}
		deleted := tx.Where("session_key = ? AND run_id = ?", string(r.Session), string(r.Run)).Delete(&messageRow{})
		if deleted.Error != nil {
			return deleted.Error
		}
		err := tx.Model(&sessionRow{}).Where("key = ?", string(r.Session)).
			Update("message_count", gorm.Expr("max(message_count - ?, 0)", deleted.RowsAffected)).Error
		if err != nil {
			return err
		}
	}
	return tx.Where("job_id = ? AND ended_at > 0 AND id <= ?", string(job), old[0].ID).Delete(&JobRun{}).Error
}

// UnfinishedRuns returns the runs that have not ended, oldest first.
func (s *Jobs) UnfinishedRuns(ctx context.Context) ([]JobRun, error) {
	return find[JobRun](ctx, s.conn, "read runs of jobs", func(db *gorm.DB) *gorm.DB { return db.Where("ended_at = 0").Order("id") })
}

// FinishedRuns returns a page of the finished runs, newest first, and their total number; if job is
// not empty, only of that job.
func (s *Jobs) FinishedRuns(ctx context.Context, job protocol.CronJobID, offset, limit int) (list []JobRun, total int, err error) {
	return findPage[JobRun](ctx, s.conn, "read runs of jobs", "id DESC", offset, limit, func(db *gorm.DB) *gorm.DB {
		return db.Where(&JobRun{Job: job}).Where("ended_at > 0") // an empty field selects all
	})
}

// Heartbeats are the states of agents' heartbeats.
type Heartbeats struct{ *conn }

type heartbeatRow struct {
	Agent protocol.AgentID        `gorm:"primaryKey"`
	State protocol.HeartbeatState `gorm:"column:json;serializer:json"`
}

// List returns the state of every agent's heartbeat.
func (s *Heartbeats) List(ctx context.Context) ([]protocol.HeartbeatState, error) {
	rows, err := find[heartbeatRow](ctx, s.conn, "read heartbeats", func(db *gorm.DB) *gorm.DB { return db })
	return convert(rows, func(r heartbeatRow) protocol.HeartbeatState { return r.State }), err
}

// Put stores the state of an agent's heartbeat.
func (s *Heartbeats) Put(ctx context.Context, h protocol.HeartbeatState) error {
	return s.write(ctx, "store heartbeat", func(tx *gorm.DB) error { return upsert(tx, &heartbeatRow{h.AgentID, h}) })
}
