package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Tenant is a project with one user, a plain member who may have load balancers, made by the operator for a test.
type Tenant struct {
	Login
	ProjectID, UserID string

	client           *cloudClient
	operator, member *Caller
}

// NewTenant makes a project and a user in it. The name is free in the cloud.
func NewTenant(ctx context.Context, cloud Cloud, name string) (*Tenant, error) {
	client := &cloudClient{cloud: cloud, client: cloud.client()}
	operator, err := client.login(ctx, cloud.Operator)
	if err != nil {
		return nil, fmt.Errorf("the operator: %w", err)
	}
	t := &Tenant{client: client, operator: operator, Login: Login{User: name + "-user", Password: name + "-password", Project: name}}
	// A caller who gives up meanwhile is heard at the end: an answer that nobody reads takes an ID with it.
	if err := errors.Join(detached(ctx, t.create), ctx.Err()); err != nil {
		return nil, errors.Join(fmt.Errorf("making project %q: %w", name, err), detached(ctx, t.Remove))
	}
	return t, nil
}

// detached does something that must come to its end although its caller has given up.
func detached(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	return do(ctx)
}

func (t *Tenant) create(ctx context.Context) error {
	project, err := t.DoAsOperator(ctx, http.MethodPost, Identity, "/v3/projects", Body{"project": Body{"name": t.Project, "domain_id": "default"}})
	if err != nil {
		return err
	}
	t.ProjectID = project.Text("project.id")
	user, err := t.DoAsOperator(ctx, http.MethodPost, Identity, "/v3/users", Body{"user": Body{
		"name": t.User, "password": t.Password, "domain_id": "default", "default_project_id": t.ProjectID,
	}})
	if err != nil {
		return err
	}
	t.UserID = user.Text("user.id")
	roles, err := t.DoAsOperator(ctx, http.MethodGet, Identity, "/v3/roles", nil)
	if err != nil {
		return err
	}
	for _, role := range roles.Objects("roles") {
		if !slices.Contains([]string{"member", "load-balancer_member"}, role.Text("name")) {
			continue
		}
		path := fmt.Sprintf("/v3/projects/%s/users/%s/roles/%s", t.ProjectID, t.UserID, role.ID())
		if _, err := t.DoAsOperator(ctx, http.MethodPut, Identity, path, nil); err != nil {
			return err
		}
	}
	t.member, err = t.client.login(ctx, t.Login)
	return err
}

// Renew logs in again, after tokens have become invalid before their time.
func (t *Tenant) Renew(ctx context.Context) error {
	operator, err := t.client.login(ctx, t.client.cloud.Operator)
	if err != nil {
		return fmt.Errorf("the operator: %w", err)
	}
	member, err := t.client.login(ctx, t.Login)
	if err != nil {
		return fmt.Errorf("user %q: %w", t.User, err)
	}
	t.operator, t.member = operator, member
	return nil
}

// DoAsMember makes a request as the tenant's user and returns the whole answer. An answer from 400 on is an error.
func (t *Tenant) DoAsMember(ctx context.Context, method string, s Service, path string, body any) (Object, error) {
	return t.client.do(ctx, t.member, method, s, path, body)
}

// DoAsOperator makes a request as the cloud's administrator, see DoAsMember.
func (t *Tenant) DoAsOperator(ctx context.Context, method string, s Service, path string, body any) (Object, error) {
	return t.client.do(ctx, t.operator, method, s, path, body)
}

func (client *cloudClient) do(ctx context.Context, w *Caller, method string, s Service, path string, body any) (Object, error) {
	response, err := client.exchange(ctx, w, method, s, path, body, nil)
	if err != nil {
		return nil, fmt.Errorf("%s %s %s: %w", method, s, path, err)
	}
	if response.Status >= http.StatusBadRequest {
		return nil, fmt.Errorf("%s %s %s: %d %s", method, s, path, response.Status, response.Raw)
	}
	return response.Body, nil
}

// Remove removes the user and the project. It does not empty the project: what is left in it is somebody's error and an
// error, and stays to be looked at.
func (t *Tenant) Remove(ctx context.Context) error {
	if t.member != nil {
		left, err := t.Inventory(ctx)
		if err != nil {
			return fmt.Errorf("looking what is left in project %q: %w", t.Project, err)
		}
		if len(left) > 0 {
			return fmt.Errorf("project %q is not empty: %v", t.Project, left)
		}
	}
	var failures []error
	if t.member != nil {
		failures = append(failures, t.removeDefaultGroups(ctx))
	}
	if t.UserID != "" {
		failures = append(failures, t.client.remove(ctx, t.operator, Identity, "/v3/users/"+t.UserID))
	}
	if t.ProjectID != "" {
		failures = append(failures, t.client.remove(ctx, t.operator, Identity, "/v3/projects/"+t.ProjectID))
	}
	return errors.Join(failures...)
}

// removeDefaultGroups removes the security group that Neutron makes for each project and that only an operator may remove.
func (t *Tenant) removeDefaultGroups(ctx context.Context) error {
	groups, err := t.DoAsOperator(ctx, http.MethodGet, Network, "/v2.0/security-groups?project_id="+t.ProjectID, nil)
	if err != nil {
		return err
	}
	for _, group := range groups.Objects("security_groups") {
		if err := t.client.remove(ctx, t.operator, Network, "/v2.0/security-groups/"+group.ID()); err != nil {
			return err
		}
	}
	return nil
}

// Item is a resource in a tenant's project.
type Item struct {
	Kind, ID string
	Object   Object
}

// String is for people.
func (i Item) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", i.Kind, i.ID, i.Object.Text("name")))
}

// Inventory lists everything that the project has, but for the default security group and its rules.
func (t *Tenant) Inventory(ctx context.Context) ([]Item, error) {
	var items []Item
	for _, list := range collections(t.ProjectID, t.UserID) {
		if t.member.endpoints[list.service] == "" && list.service != Identity {
			continue
		}
		response, err := t.DoAsMember(ctx, http.MethodGet, list.service, list.path, nil)
		if err != nil {
			return nil, err
		}
		for _, object := range response.Objects(list.key) {
			if inner := object.Objects("keypair"); inner == nil && object["keypair"] != nil {
				object, _ = object["keypair"].(map[string]any)
			}
			items = append(items, Item{Kind: list.kind, ID: firstOf(object.ID(), object.Text("name")), Object: object})
		}
	}
	return withoutDefaults(items), nil
}

type collection struct {
	kind    string
	service Service
	path    string
	key     string
}

func collections(projectID, userID string) []collection {
	own := "?project_id=" + projectID
	return []collection{
		{"network", Network, "/v2.0/networks" + own, "networks"},
		{"subnet", Network, "/v2.0/subnets" + own, "subnets"},
		{"subnet pool", Network, "/v2.0/subnetpools" + own, "subnetpools"},
		{"router", Network, "/v2.0/routers" + own, "routers"},
		{"port", Network, "/v2.0/ports" + own, "ports"},
		{"floating IP", Network, "/v2.0/floatingips" + own, "floatingips"},
		{"security group", Network, "/v2.0/security-groups" + own, "security_groups"},
		{"security group rule", Network, "/v2.0/security-group-rules" + own, "security_group_rules"},
		{"server", Compute, "/v2.1/servers/detail", "servers"},
		{"key pair", Compute, "/v2.1/os-keypairs", "keypairs"},
		{"server group", Compute, "/v2.1/os-server-groups", "server_groups"},
		{"volume", Volume, "/v3/" + projectID + "/volumes/detail", "volumes"},
		{"load balancer", LoadBalancer, "/v2/lbaas/loadbalancers", "loadbalancers"},
		{"application credential", Identity, "/v3/users/" + userID + "/application_credentials", "application_credentials"},
	}
}

func withoutDefaults(items []Item) []Item {
	defaults := map[string]bool{}
	for _, item := range items {
		if item.Kind == "security group" && item.Object.Text("name") == "default" {
			defaults[item.ID] = true
		}
	}
	return slices.DeleteFunc(items, func(item Item) bool {
		return defaults[item.ID] || defaults[item.Object.Text("security_group_id")]
	})
}

func firstOf(values ...string) string {
	for _, value := range values {
		if value != "" {
			return value
		}
	}
	return ""
}
