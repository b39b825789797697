package seed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
)

// auditPolicy records what controllers write, with the body, and what they read, without; and of what pods of control planes ask for
// whether they may. Lease renewals are no writes in the sense of any budget: they come with the clock and not with the work.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: None
  resources: [{group: coordination.k8s.io, resources: [leases]}]
- level: Request
  userGroups: [` + controllerGroup + `]
  verbs: [create, update, patch, delete, deletecollection]
- level: Metadata
  userGroups: [` + controllerGroup + `]
  verbs: [get, list, watch]
- level: Metadata
  userGroups: ["system:serviceaccounts"]
- level: None
`

// serviceAccounts is what the names of users begin with that are pods.
const serviceAccounts = "system:serviceaccount:"

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

// AuditLog is the path of an API server's log of requests, an audit.k8s.io/v1 Event in each line.
type AuditLog string

// AuditLog is that of the seed.
func (s *Seed) AuditLog() AuditLog { return AuditLog(s.audit) }

// Writes is AuditLog.Writes of the seed.
func (s *Seed) Writes(namespace string) ([]Write, error) { return s.AuditLog().Writes(namespace) }

// Requests is AuditLog.Requests of the seed.
func (s *Seed) Requests(user string) ([]Request, error) { return s.AuditLog().Requests(user) }

// Refused is AuditLog.Refused of the seed.
func (s *Seed) Refused(namespace, serviceAccount string) ([]string, error) {
	return s.AuditLog().Refused(namespace, serviceAccount)
}

// Writes returns what controllers wrote, or tried to, to objects of the namespace, or of all when it is empty, in the order
// in which it was done. The API server logs a write right after it has answered; what a controller wrote is complete once
// the controller has ended.
func (l AuditLog) Writes(namespace string) ([]Write, error) {
	var writes []Write
	err := l.eachEvent(func(event auditEvent) {
		isRead := slices.Contains([]string{"get", "list", "watch"}, event.Verb)
		isPod := strings.HasPrefix(event.User.Username, serviceAccounts)
		if !isRead && !isPod && (namespace == "" || event.ObjectRef.Namespace == namespace) {
			writes = append(writes, event.write())
		}
	})
	return writes, err
}

// WritesOf returns what one user wrote, or tried to, in the order in which it was done; all users when it is empty.
func (l AuditLog) WritesOf(user string) ([]Write, error) {
	var writes []Write
	err := l.eachEvent(func(event auditEvent) {
		isRead := slices.Contains([]string{"get", "list", "watch"}, event.Verb)
		if !isRead && (user == "" || event.User.Username == user) {
			writes = append(writes, event.write())
		}
	})
	return writes, err
}

// Request is what a controller asked for, whether it reads or writes.
type Request struct {
	// Verb is that of a right, Group and Resource say of what. A subresource follows the resource after a slash.
	Verb, Group, Resource string
	// Namespace is empty where all are meant, and for what is in none. Name is empty for lists.
	Namespace, Name string
	// Code is the status of the answer.
	Code int
}

// WithoutProgress leaves out of the writes of one pass what is to show people that it takes its time, for on a busy machine any pass may take
// longer than a second: what comes into the status from the first time it says that the operation is under way to its end, which then says so.
func WithoutProgress(writes []Write) []Write {
	told := false
	return slices.DeleteFunc(slices.Clone(writes), func(write Write) bool {
		var sent struct {
			Status struct {
				LastOperation gardencorev1beta1.LastOperation `json:"lastOperation"`
			} `json:"status"`
		}
		if !strings.HasSuffix(write.Resource, "/status") || json.Unmarshal(write.Body, &sent) != nil {
			return false
		}
		state := sent.Status.LastOperation.State
		told = told || state == gardencorev1beta1.LastOperationStateProcessing
		return told && (state == "" || state == gardencorev1beta1.LastOperationStateProcessing)
	})
}

// UserOf is the name under which a ServiceAccount asks.
func UserOf(namespace, serviceAccount string) string {
	return serviceAccounts + namespace + ":" + serviceAccount
}

// Requests returns what a controller asked for, in order, but for renewals of Leases. Watches are logged when they end.
func (l AuditLog) Requests(user string) ([]Request, error) {
	var requests []Request
	err := l.eachEvent(func(event auditEvent) {
		if event.User.Username == user {
			write := event.write()
			requests = append(requests, Request{
				Verb: write.Verb, Group: event.ObjectRef.APIGroup, Resource: write.Resource,
				Namespace: write.Namespace, Name: write.Name, Code: write.Code,
			})
		}
	})
	return requests, err
}

// Users returns all who have asked for anything, each once.
func (l AuditLog) Users() ([]string, error) {
	known := map[string]bool{}
	err := l.eachEvent(func(event auditEvent) { known[event.User.Username] = true })
	return slices.Sorted(maps.Keys(known)), err
}

// Refused returns what a ServiceAccount has asked for without having the right, each once and in the order in which it was asked for
// first.
func (l AuditLog) Refused(namespace, serviceAccount string) ([]string, error) {
	var refused []string
	err := l.eachEvent(func(event auditEvent) {
		if event.User.Username != UserOf(namespace, serviceAccount) || event.ResponseStatus.Code != http.StatusForbidden {
			return
		}
		write := event.write()
		request := fmt.Sprintf("%s %s %s/%s", write.Verb, write.Resource, write.Namespace, write.Name)
		if !slices.Contains(refused, request) {
			refused = append(refused, request)
		}
	})
	return refused, err
}

func (l AuditLog) eachEvent(do func(auditEvent)) error {
	content, err := os.ReadFile(string(l))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the audit log: %w", err)
	}
	for line := range bytes.Lines(content) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // still being written
		}
		var event auditEvent
		if err := json.Unmarshal(line, &event); err != nil {
			return fmt.Errorf("decoding the audit log: %w", err)
		}
		do(event)
	}
	return nil
}

// auditEvent is the part of audit.k8s.io/v1 Event that a Write and a Request are made of.
type auditEvent struct {
	Verb string `json:"verb"`
	User struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef struct {
		APIGroup    string `json:"apiGroup"`
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
