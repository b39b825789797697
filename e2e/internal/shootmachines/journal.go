package shootmachines

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// reminder is how often an error that lasts is repeated.
const reminder = time.Minute

// journal writes what the simulation does: a line when something begins to fail, each minute while it fails, and when it works again.
type journal struct {
	out io.Writer
	now func() time.Time

	lock   sync.Mutex
	failed map[string]failure
}

type failure struct {
	since, told time.Time
	text        string
}

func newJournal(out io.Writer) *journal {
	return &journal{out: out, now: time.Now, failed: map[string]failure{}}
}

func (j *journal) linef(format string, args ...any) {
	j.lock.Lock()
	defer j.lock.Unlock()
	j.printf(format, args...)
}

// printf needs the lock.
func (j *journal) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(j.out, j.now().UTC().Format("15:04:05.000")+" "+format+"\n", args...)
}

// state writes how something that is done again and again has gone.
func (j *journal) state(of, doing string, err error) {
	j.lock.Lock()
	defer j.lock.Unlock()
	key, now := of+"\n"+doing, j.now()
	text := ""
	if err != nil {
		text = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	last, failing := j.failed[key]
	switch {
	case err == nil && failing:
		j.printf("%s: %s: works again after %s", of, doing, now.Sub(last.since).Round(time.Second))
		delete(j.failed, key)
	case err == nil:
	case !failing:
		j.printf("%s: %s: %s", of, doing, text)
		j.failed[key] = failure{since: now, told: now, text: text}
	case text != last.text || now.Sub(last.told) >= reminder:
		j.printf("%s: %s: for %s: %s", of, doing, now.Sub(last.since).Round(time.Second), text)
		j.failed[key] = failure{since: last.since, told: now, text: text}
	}
}
