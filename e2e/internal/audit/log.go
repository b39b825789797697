// Package audit reads an API server's audit log: who asked for what, and what the server answered. It starts nothing and knows no cluster.
package audit

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

// Log is the path of an API server's audit log, a JSON object (audit.k8s.io/v1 Event) in each line.
type Log string

// Writes returns what controllers wrote, or tried to, to objects of the namespace, or of all when it is empty, in the order
// in which it was done. The API server logs a write right after it has answered; what a controller wrote is complete once
// the controller has ended.
func (l Log) Writes(namespace string) ([]Write, error) {
	var writes []Write
	err := l.eachEvent(func(e event) {
		isRead := slices.Contains([]string{"get", "list", "watch"}, e.Verb)
		isPod := strings.HasPrefix(e.User.Username, serviceAccounts)
		if !isRead && !isPod && (namespace == "" || e.ObjectRef.Namespace == namespace) {
			writes = append(writes, e.write())
		}
	})
	return writes, err
}

// WritesOf returns what one user wrote, or tried to, in the order in which it was done; all users when it is empty.
func (l Log) WritesOf(user string) ([]Write, error) {
	var writes []Write
	err := l.eachEvent(func(e event) {
		isRead := slices.Contains([]string{"get", "list", "watch"}, e.Verb)
		if !isRead && (user == "" || e.User.Username == user) {
			writes = append(writes, e.write())
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
	reported := false
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
		reported = reported || state == gardencorev1beta1.LastOperationStateProcessing
		return reported && (state == "" || state == gardencorev1beta1.LastOperationStateProcessing)
	})
}

// UserOf is the name under which a ServiceAccount asks.
func UserOf(namespace, serviceAccount string) string {
	return serviceAccounts + namespace + ":" + serviceAccount
}

// Requests returns what a controller asked for, in order, but for renewals of Leases. Watches are logged when they end.
func (l Log) Requests(user string) ([]Request, error) {
	var requests []Request
	err := l.eachEvent(func(e event) {
		if e.User.Username == user {
			write := e.write()
			requests = append(requests, Request{
				Verb: write.Verb, Group: e.ObjectRef.APIGroup, Resource: write.Resource,
				Namespace: write.Namespace, Name: write.Name, Code: write.Code,
			})
		}
	})
	return requests, err
}

// Users returns all who have asked for anything, each once.
func (l Log) Users() ([]string, error) {
	known := map[string]bool{}
	err := l.eachEvent(func(e event) { known[e.User.Username] = true })
	return slices.Sorted(maps.Keys(known)), err
}

// Forbidden returns what a user has asked for without having the right, as "verb resource namespace/name" or "verb path", each once and in
// the order in which it was asked for first. The API server logs a request right after it has answered, and a watch when it ends.
func (l Log) Forbidden(user string) ([]string, error) {
	var refused []string
	err := l.eachEvent(func(e event) {
		if e.User.Username != user || e.ResponseStatus.Code != http.StatusForbidden {
			return
		}
		if request := e.request(); !slices.Contains(refused, request) {
			refused = append(refused, request)
		}
	})
	return refused, err
}

// PermanentlyForbidden is Refused without what was granted later, as "verb resource namespace": a program may be started before all its rights
// have come, and an API server takes a moment to learn of new ones. A right to watch counts as one to list, and names don't count.
func (l Log) PermanentlyForbidden(user string) ([]string, error) {
	var refused []string
	err := l.eachEvent(func(e event) {
		if e.User.Username != user || e.ObjectRef.Resource == "" {
			return
		}
		request := strings.Replace(e.Verb, "watch", "list", 1) + " " + e.resource() + " " + e.ObjectRef.Namespace
		at := slices.Index(refused, request)
		switch isRefused := e.ResponseStatus.Code == http.StatusForbidden; {
		case isRefused && at < 0:
			refused = append(refused, request)
		case !isRefused && at >= 0:
			refused = slices.Delete(refused, at, at+1)
		}
	})
	return refused, err
}

// Used reports whether a user has asked for something that it may do by a verb of a rule for a resource, which a slash separates from its
// subresource. Watches are logged when they end.
func (l Log) Used(user, verb, group, resource string) (bool, error) {
	requests, err := l.Requests(user)
	return slices.ContainsFunc(requests, func(r Request) bool {
		return r.Verb == verb && r.Group == group && r.Resource == resource
	}), err
}

func (l Log) eachEvent(do func(event)) error {
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
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("decoding the audit log: %w", err)
		}
		do(e)
	}
	return nil
}

// event is the part of audit.k8s.io/v1 Event that a Write and a Request are made of.
type event struct {
	Verb       string `json:"verb"`
	RequestURI string `json:"requestURI"`
	User       struct {
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

func (e event) write() Write {
	return Write{
		User: e.User.Username, Time: e.StageTimestamp, Verb: e.Verb,
		Resource: e.resource(), Namespace: e.ObjectRef.Namespace, Name: e.ObjectRef.Name,
		Code: e.ResponseStatus.Code, Body: e.RequestObject,
	}
}

// resource is empty for a request for no object, such as /healthz.
func (e event) resource() string {
	return strings.TrimSuffix(e.ObjectRef.Resource+"/"+e.ObjectRef.Subresource, "/")
}

func (e event) request() string {
	if e.ObjectRef.Resource == "" {
		return e.Verb + " " + e.RequestURI
	}
	return fmt.Sprintf("%s %s %s/%s", e.Verb, e.resource(), e.ObjectRef.Namespace, e.ObjectRef.Name)
}
