package shoot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
)

// auditPolicy records what ServiceAccounts ask for, without bodies.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
  userGroups: ["system:serviceaccounts"]
- level: None
`

// Refused returns what a ServiceAccount of kube-system has asked for without having the right, as "verb resource namespace/name",
// each once and in the order in which it was asked for first. The API server records a request right after it has answered.
func (c *Cluster) Refused(serviceAccount string) ([]string, error) {
	var refused []string
	err := c.eachEvent(serviceAccount, func(event auditEvent) {
		if request := event.request(); event.ResponseStatus.Code == http.StatusForbidden && !slices.Contains(refused, request) {
			refused = append(refused, request)
		}
	})
	return refused, err
}

// RefusedForGood is Refused without what was granted later: rights may come after whoever needs them. A right to watch counts as one to
// list, since watches are recorded when they end; and names don't count.
func (c *Cluster) RefusedForGood(serviceAccount string) ([]string, error) {
	var refused []string
	err := c.eachEvent(serviceAccount, func(event auditEvent) {
		if event.ObjectRef == nil {
			return
		}
		request := strings.Replace(event.Verb, "watch", "list", 1) + " " + event.resource()
		at := slices.Index(refused, request)
		switch isRefused := event.ResponseStatus.Code == http.StatusForbidden; {
		case isRefused && at < 0:
			refused = append(refused, request)
		case !isRefused && at >= 0:
			refused = slices.Delete(refused, at, at+1)
		}
	})
	return refused, err
}

// Used reports whether a ServiceAccount of kube-system has asked for something that it may do by a verb of a rule for a resource,
// which a slash separates from its subresource. Watches are recorded when they end.
func (c *Cluster) Used(serviceAccount, verb, group, resource string) (bool, error) {
	used := false
	err := c.eachEvent(serviceAccount, func(event auditEvent) {
		used = used || event.Verb == verb && event.ObjectRef != nil && event.ObjectRef.APIGroup == group && event.resource() == resource
	})
	return used, err
}

func (c *Cluster) eachEvent(serviceAccount string, do func(auditEvent)) error {
	content, err := os.ReadFile(c.path(auditLog))
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
		if event.User.Username == "system:serviceaccount:kube-system:"+serviceAccount {
			do(event)
		}
	}
	return nil
}

// auditEvent is the part of audit.k8s.io/v1 Event that tells who asked for what.
type auditEvent struct {
	Verb       string `json:"verb"`
	RequestURI string `json:"requestURI"`
	User       struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef *struct {
		APIGroup    string `json:"apiGroup"`
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
}

func (e auditEvent) request() string {
	if e.ObjectRef == nil {
		return e.Verb + " " + e.RequestURI
	}
	return fmt.Sprintf("%s %s %s/%s", e.Verb, e.resource(), e.ObjectRef.Namespace, e.ObjectRef.Name)
}

func (e auditEvent) resource() string {
	return strings.TrimSuffix(e.ObjectRef.Resource+"/"+e.ObjectRef.Subresource, "/")
}
