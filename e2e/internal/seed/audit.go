package seed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
)

// auditPolicy records what controllers write, with the body. Lease renewals are no writes in the sense of any budget: they
// come with the clock and not with the work.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: None
  resources: [{group: coordination.k8s.io, resources: [leases]}]
- level: Request
  userGroups: [` + controllerGroup + `]
  verbs: [create, update, patch, delete, deletecollection]
- level: None
`

// Write is a request of a controller that changes something.
type Write struct {
	User string
	Time time.Time
	// Verb is create, update, patch, delete or deletecollection.
	Verb string
	// Resource is the plural, followed by a slash and the subresource if there is one, e.g. "infrastructures/status".
	Resource, Namespace, Name string
	// Code is the status of the answer.
	Code int
	// Body is what was sent.
	Body json.RawMessage
}

// String describes the write in one line.
func (w Write) String() string {
	return fmt.Sprintf("%s %s %s/%s -> %d %s", w.Verb, w.Resource, w.Namespace, w.Name, w.Code, w.Body)
}

// Writes returns what controllers wrote, or tried to, to objects of the namespace, or of all when it is empty, in the order
// in which it was done. The API server logs a write right after it has answered; what a controller wrote is complete once
// the controller has ended.
func (s *Seed) Writes(namespace string) ([]Write, error) {
	content, err := os.ReadFile(s.audit)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	var writes []Write
	for line := range bytes.Lines(content) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // still being written
		}
		var event auditEvent
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, fmt.Errorf("decoding the audit log: %w", err)
		}
		if namespace == "" || event.ObjectRef.Namespace == namespace {
			writes = append(writes, event.write())
		}
	}
	return writes, nil
}

// auditEvent is the part of audit.k8s.io/v1 Event that a Write is made of.
type auditEvent struct {
	Verb string `json:"verb"`
	User struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef struct {
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	RequestObject  json.RawMessage `json:"requestObject"`
	StageTimestamp time.Time       `json:"stageTimestamp"`
}

func (e auditEvent) write() Write {
	resource := e.ObjectRef.Resource
	if e.ObjectRef.Subresource != "" {
		resource += "/" + e.ObjectRef.Subresource
	}
	return Write{
		User: e.User.Username, Time: e.StageTimestamp, Verb: e.Verb,
		Resource: resource, Namespace: e.ObjectRef.Namespace, Name: e.ObjectRef.Name,
		Code: e.ResponseStatus.Code, Body: e.RequestObject,
	}
}
