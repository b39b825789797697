package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Count says how often a controller has made requests that the API server counts as one kind.
type Count struct {
	// User is the controller's. Verb and Resource are those of the RBAC rule that permits the request.
	User, Verb, Resource string
}

// IsWrite reports whether the requests change something.
func (c Count) IsWrite() bool {
	switch c.Verb {
	case "get", "list", "watch":
		return false
	default:
		return true
	}
}

// Counts are numbers of requests.
type Counts map[Count]int

// Where sums up the requests that match.
func (c Counts) Where(match func(Count) bool) int {
	sum := 0
	for count, n := range c {
		if match(count) {
			sum += n
		}
	}
	return sum
}

// By sums up the requests by a name that of gives each of them.
func (c Counts) By(of func(Count) string) map[string]int {
	sums := map[string]int{}
	for count, n := range c {
		sums[of(count)] += n
	}
	return sums
}

// Cursor reads a log piece by piece: long logs are large.
type Cursor struct {
	log Log
	at  int64
}

// Cursor returns a cursor at the end of the log.
func (l Log) Cursor() *Cursor {
	c := &Cursor{log: l}
	if info, err := os.Stat(string(l)); err == nil {
		c.at = info.Size()
	}
	return c
}

// FromStart returns a cursor at the start of a log.
func (l Log) FromStart() *Cursor { return &Cursor{log: l} }

// Next counts the requests since the last call, without those of pods. The API server logs a request right after its response, and a watch when it
// ends.
func (c *Cursor) Next() (Counts, error) {
	counts := Counts{}
	err := c.eachEvent(func(e event) {
		if e.ObjectRef.Resource != "" && !strings.HasPrefix(e.User.Username, serviceAccounts) {
			counts[Count{User: e.User.Username, Verb: e.Verb, Resource: e.resource()}]++
		}
	})
	if err != nil {
		return nil, err
	}
	return counts, nil
}

// Forbidden returns the forbidden requests of matching users since the last call, as "user: verb resource namespace/name", each once.
func (c *Cursor) Forbidden(match func(user string) bool) ([]string, error) {
	var refused []string
	err := c.eachEvent(func(e event) {
		if !e.isForbidden() || !match(e.User.Username) {
			return
		}
		if request := e.User.Username + ": " + e.request(); !slices.Contains(refused, request) {
			refused = append(refused, request)
		}
	})
	return refused, err
}

// eachEvent reads the whole lines after the cursor.
func (c *Cursor) eachEvent(do func(event)) error {
	file, err := os.Open(string(c.log))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the audit log: %w", err)
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err != nil || info.Size() < c.at {
		return errors.Join(fmt.Errorf("reading the audit log from byte %d on: it is shorter, so it was rotated", c.at), err)
	}
	content, err := io.ReadAll(io.NewSectionReader(file, c.at, 1<<62))
	if err != nil {
		return fmt.Errorf("reading the audit log: %w", err)
	}
	content = content[:bytes.LastIndexByte(content, '\n')+1] // the last line may be being written
	for line := range bytes.Lines(content) {
		if !bytes.HasPrefix(line, []byte("{")) {
			continue // of the server's own log, where its audit log is a part of that
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("decoding the audit log: %w", err)
		}
		do(e)
	}
	c.at += int64(len(content))
	return nil
}
