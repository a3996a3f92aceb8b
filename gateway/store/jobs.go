package store

import (
	"context"
	"encoding/json"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

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
	ID                 int64 // set by the store
	Job                protocol.CronJobID
	Due                int64 // 0 if a person started it
	Session            protocol.SessionKey
	Run                protocol.RunID
	StartedAt, EndedAt int64
	Status             string // a protocol.Cron constant
	Error, Summary     string
	NextRunAt          int64
}

// Jobs are the scheduled jobs and their runs.
type Jobs struct{ *conn }

type jobRow struct {
	ID        string `gorm:"primaryKey;column:id"`
	BaseAt    int64
	LastDueAt int64
	JSON      string `gorm:"column:json"`
}

func (jobRow) TableName() string { return "cron_jobs" }

type jobRunRow struct {
	ID         int64 `gorm:"primaryKey;autoIncrement;column:id"`
	JobID      string
	DueAt      int64
	SessionKey string
	RunID      string
	StartedAt  int64
	EndedAt    int64
	Status     string
	Error      string
	Summary    string
	NextRunAt  int64
}

func (jobRunRow) TableName() string { return "cron_runs" }

func rowOfJobRun(r JobRun) jobRunRow {
	return jobRunRow{r.ID, string(r.Job), r.Due, string(r.Session), string(r.Run), r.StartedAt, r.EndedAt, r.Status, r.Error, r.Summary, r.NextRunAt}
}

func (r jobRunRow) run() JobRun {
	return JobRun{
		r.ID, protocol.CronJobID(r.JobID), r.DueAt, protocol.SessionKey(r.SessionKey), protocol.RunID(r.RunID), r.StartedAt, r.EndedAt,
		r.Status, r.Error, r.Summary, r.NextRunAt,
	}
}

// List returns every job, in no order.
func (s *Jobs) List(ctx context.Context) ([]Job, error) {
	var rows []jobRow
	if err := s.read(ctx, "read jobs", func(db *gorm.DB) error { return db.Find(&rows).Error }); err != nil {
		return nil, err
	}
	jobs := make([]Job, len(rows))
	for i, r := range rows {
		jobs[i].Base, jobs[i].LastDue = r.BaseAt, r.LastDueAt
		if err := json.Unmarshal([]byte(r.JSON), &jobs[i].CronJob); err != nil {
			return nil, fmt.Errorf("read job %s: %w", r.ID, err)
		}
	}
	return jobs, nil
}

// Put stores a new or changed job.
func (s *Jobs) Put(ctx context.Context, j Job) error {
	return s.write(ctx, "store job", func(tx *gorm.DB) error { return putJob(tx, j) })
}

func putJob(tx *gorm.DB, j Job) error {
	row := jobRow{string(j.ID), j.Base, j.LastDue, jsonText(j.CronJob)}
	return tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error
}

// Delete deletes a job with its history.
func (s *Jobs) Delete(ctx context.Context, id protocol.CronJobID) error {
	return s.write(ctx, "remove job", func(tx *gorm.DB) error {
		if err := tx.Where("id = ?", string(id)).Delete(&jobRow{}).Error; err != nil {
			return err
		}
		return tx.Where("job_id = ?", string(id)).Delete(&jobRunRow{}).Error
	})
}

// StartRun stores the start of a run of j, together with the new state of j, and returns the
// run with its ID. A second run for one due time fails with protocol.ErrConflict. A skipped run is
// stored with its end.
func (s *Jobs) StartRun(ctx context.Context, j Job, r JobRun) (JobRun, error) {
	row := rowOfJobRun(r)
	err := s.write(ctx, "start job", func(tx *gorm.DB) error {
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
		return putJob(tx, j)
	})
	return row.run(), err
}

// EndRun stores the end of a run, together with the new state of j; if remove is set, it
// deletes j instead. All but the newest keep runs of the job are deleted; dropped are their
// sessions.
func (s *Jobs) EndRun(ctx context.Context, j Job, r JobRun, keep int, remove bool) (dropped []protocol.SessionKey, err error) {
	row := rowOfJobRun(r)
	err = s.write(ctx, "end job", func(tx *gorm.DB) error {
		dropped = nil
		if err := tx.Model(&jobRunRow{}).Where("id = ?", row.ID).Select("*").Omit("id").Updates(&row).Error; err != nil {
			return err
		}
		if remove {
			if err := tx.Where("id = ?", string(j.ID)).Delete(&jobRow{}).Error; err != nil {
				return err
			}
		} else if err := putJob(tx, j); err != nil {
			return err
		}
		dropped, err = deleteOldRuns(tx, j.ID, keep)
		return err
	})
	return dropped, err
}

// DeleteRun deletes a run whose job no longer exists.
func (s *Jobs) DeleteRun(ctx context.Context, id int64) error {
	return s.write(ctx, "delete run of a job", func(tx *gorm.DB) error { return tx.Delete(&jobRunRow{}, id).Error })
}

func deleteOldRuns(tx *gorm.DB, job protocol.CronJobID, keep int) (dropped []protocol.SessionKey, err error) {
	var old []jobRunRow
	err = tx.Where("job_id = ? AND ended_at > 0", string(job)).Order("id DESC").Offset(keep).Limit(-1).Find(&old).Error
	if err != nil || len(old) == 0 {
		return nil, err
	}
	for _, r := range old {
		if r.SessionKey != "" {
			dropped = append(dropped, protocol.SessionKey(r.SessionKey))
		}
	}
	return dropped, tx.Where("job_id = ? AND ended_at > 0 AND id <= ?", string(job), old[0].ID).Delete(&jobRunRow{}).Error
}

// UnfinishedRuns returns the runs that have not ended, oldest first.
func (s *Jobs) UnfinishedRuns(ctx context.Context) ([]JobRun, error) {
	var rows []jobRunRow
	err := s.read(ctx, "read runs of jobs", func(db *gorm.DB) error { return db.Where("ended_at = 0").Order("id").Find(&rows).Error })
	return jobRuns(rows), err
}

// FinishedRuns returns a page of the finished runs, newest first, and their total number; if job is
// not empty, only of that job.
func (s *Jobs) FinishedRuns(ctx context.Context, job protocol.CronJobID, offset, limit int) (list []JobRun, total int, err error) {
	var rows []jobRunRow
	var n int64
	err = s.read(ctx, "read runs of jobs", func(db *gorm.DB) error {
		q := db.Model(&jobRunRow{}).Where("ended_at > 0")
		if job != "" {
			q = q.Where("job_id = ?", string(job))
		}
		if err := q.Session(&gorm.Session{}).Count(&n).Error; err != nil {
			return err
		}
		return q.Session(&gorm.Session{}).Order("id DESC").Offset(offset).Limit(limit).Find(&rows).Error
	})
	return jobRuns(rows), int(n), err
}

func jobRuns(rows []jobRunRow) []JobRun {
	list := make([]JobRun, len(rows))
	for i, r := range rows {
		list[i] = r.run()
	}
	return list
}
