package neutron

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// collection is a kind of Neutron resource with its create, update and delete. What all kinds have in common is done here.
type collection[T any] struct {
	singular, plural string // "security_group", "security_groups"
	path             string // "security-groups"
	rows             *core.Table[T]
	std              func(*T) *Standard
	quota            string // name of the quota, or "" for none
	missing          func(id string) *wire.Error
	// visible permits others than the owner to read a row; nil permits nobody else.
	visible func(*core.Identity, *T) bool
	// deletable permits others than the owner to change and delete a row; nil permits nobody else.
	deletable func(*core.Identity, *T) bool

	create func(q *core.Request, projectID string, raw json.RawMessage) (*T, error)
	update func(q *core.Request, row *T, raw json.RawMessage) error
	remove func(q *core.Request, row *T) error
	// before is called before a list is read; may be nil.
	before func(q *core.Request)
	// ignoresIfMatch reports whether an update ignores If-Match; nil for never.
	ignoresIfMatch func(raw json.RawMessage) bool
	// startsAtRevisionZero is true if the revision number of a new row is 0, not 1.
	startsAtRevisionZero bool
	// updated formats a row in the response to an update; nil for the usual format.
	updated func(row *T) any
	// discard undoes a create.
	discard func(row *T)
	// discardBulk undoes the creates of a bulk of which a later part fails with the error; nil for discard.
	discardBulk func(rows []*T, err error)
	// inBulk changes the rows of a bulk; nil for rows that are as if they were created alone.
	inBulk func(row *T)

	filters core.Filters
}

// serveCollection registers the calls of a collection.
func serveCollection[T any](svc *Service, e core.Endpoint, k *collection[T]) {
	k.filters = core.NewFilters[T](matchOwn)
	base := "/v2.0/" + k.path
	svc.Route(e, "GET "+base, func(q *core.Request) (core.Reply, error) { return listRows(svc, k, q) })
	svc.Route(e, "POST "+base, func(q *core.Request) (core.Reply, error) { return createRows(svc, k, q) })
	svc.Route(e, "DELETE "+base, func(*core.Request) (core.Reply, error) { return core.Reply{}, k.missing("None") })
	svc.Route(e, "GET "+base+"/{id}", func(q *core.Request) (core.Reply, error) {
		row, err := k.find(q)
		if err != nil {
			return core.Reply{}, err
		}
		svc.CountPoll(q.Path("id"))
		return showRow(k, q, http.StatusOK, row)
	})
	svc.Route(e, "PUT "+base+"/{id}", func(q *core.Request) (core.Reply, error) { return updateRow(svc, k, q) })
	svc.Route(e, "DELETE "+base+"/{id}", func(q *core.Request) (core.Reply, error) {
		row, err := k.findOwn(q)
		if err != nil {
			return core.Reply{}, err
		}
		if err := svc.ifMatch(q, k.std(row)); err != nil {
			return core.Reply{}, err
		}
		if err := k.remove(q, row); err != nil {
			return core.Reply{}, err
		}
		return core.NoContent()
	})
	serveTags(svc, e, k)
}

func (k *collection[T]) readable(caller *core.Identity, row *T) bool {
	return caller.Owns(k.std(row).ProjectID) || k.visible != nil && k.visible(caller, row)
}

// find returns the row in the path, if the caller may read it.
func (k *collection[T]) find(q *core.Request) (*T, error) {
	row := k.rows.Get(q.Path("id"))
	if row == nil || !k.readable(q.Identity, row) {
		return nil, k.missing(q.Path("id"))
	}
	return row, nil
}

// findOwn returns the row in the path, if the caller may change it.
func (k *collection[T]) findOwn(q *core.Request) (*T, error) {
	row, err := k.find(q)
	if err != nil {
		return nil, err
	}
	if !q.Owns(k.std(row).ProjectID) && (k.deletable == nil || !k.deletable(q.Identity, row)) {
		action := map[string]string{http.MethodPut: "update", http.MethodDelete: "delete"}[q.HTTP.Method]
		return nil, core.Forbidden("PolicyNotAuthorized", "rule:%s_%s is disallowed by policy", action, k.singular)
	}
	return row, nil
}

func listRows[T any](svc *Service, k *collection[T], q *core.Request) (core.Reply, error) {
	if err := checkFilters(k.filters, q.Values); err != nil {
		return core.Reply{}, err
	}
	by, err := orderOf(k.filters, k.rows.ID, q.Values)
	if err != nil {
		return core.Reply{}, err
	}
	if k.before != nil {
		k.before(q)
	}
	match := func(row *T) bool {
		return k.readable(q.Identity, row) && core.MatchTags(k.std(row).Tags, q.Values) &&
			k.filters.Match(reflect.ValueOf(row).Elem(), q.Values)
	}
	var rows []*T
	if ids := q.Values["id"]; len(ids) > 0 {
		for _, id := range ids {
			if row := k.rows.Get(id); row != nil && match(row) && !slices.Contains(rows, row) {
				rows = append(rows, row)
			}
		}
	} else {
		rows = k.rows.Where(match)
	}
	slices.SortFunc(rows, by)
	part, err := neutronPage(rows, k, by, q, svc.Config.PageSize)
	if err != nil {
		return core.Reply{}, err
	}
	for _, row := range part.Rows {
		svc.CountPoll(k.rows.ID(row))
	}
	return core.ListReply(k.plural, core.Copies(part.Rows), part.Links, q)
}

func showRow[T any](k *collection[T], q *core.Request, status int, row *T) (core.Reply, error) {
	var view any = *row
	if fields := q.Values["fields"]; len(fields) > 0 && q.HTTP.Method == http.MethodGet {
		cut, err := core.OnlyFields([]T{*row}, fields)
		if err != nil {
			return core.Reply{}, fmt.Errorf("cutting %s to fields: %w", k.singular, err)
		}
		view = reflect.ValueOf(cut).Index(0).Interface()
	}
	return core.Reply{Status: status, Body: map[string]any{k.singular: view}}, nil
}

func createRows[T any](svc *Service, k *collection[T], q *core.Request) (core.Reply, error) {
	if raw, isOne := core.Unwrap(q.Body, k.singular); isOne {
		row, err := createRow(svc, k, q, raw)
		if err != nil {
			return core.Reply{}, err
		}
		return showRow(k, q, http.StatusCreated, row)
	}
	var raws []json.RawMessage
	raw, isMany := core.Unwrap(q.Body, k.plural)
	if !isMany || json.Unmarshal(raw, &raws) != nil || len(raws) == 0 {
		return core.Reply{}, core.BadRequest("HTTPBadRequest", "Unable to find '%s' in request body", k.singular)
	}
	var rows []*T
	for _, raw := range raws {
		row, err := createRow(svc, k, q, raw)
		if err != nil {
			k.undo(rows, err)
			return core.Reply{}, err
		}
		rows = append(rows, row)
	}
	if k.inBulk != nil {
		for _, row := range rows {
			k.inBulk(row)
		}
	}
	return core.Created(map[string]any{k.plural: core.Copies(rows)})
}

// undo undoes the creates of a bulk.
func (k *collection[T]) undo(rows []*T, err error) {
	if k.discardBulk != nil {
		k.discardBulk(rows, err)
		return
	}
	for _, row := range rows {
		k.discard(row)
	}
}

func createRow[T any](svc *Service, k *collection[T], q *core.Request, raw json.RawMessage) (*T, error) {
	projectID, raw, err := ownerOf(q, raw)
	if err != nil {
		return nil, err
	}
	have := k.rows.Count(func(row *T) bool { return k.std(row).ProjectID == projectID })
	over := svc.checkQuota(projectID, k.quota, have, 1)
	row, err := k.create(q, projectID, raw)
	if err == nil && k.startsAtRevisionZero {
		k.std(row).RevisionNumber--
	}
	switch {
	case over == nil || checkedBeforeQuota(err):
		return row, err
	case err == nil:
		k.discard(row)
	}
	return nil, over
}

// ownerOf removes tenant_id and project_id from the attributes. Only administrators create for other projects.
func ownerOf(q *core.Request, raw json.RawMessage) (string, json.RawMessage, error) {
	var attrs map[string]json.RawMessage
	if json.Unmarshal(raw, &attrs) != nil {
		return "", nil, core.BadRequest("HTTPBadRequest", "Invalid input: attributes must be an object")
	}
	owner := q.ProjectID
	for _, key := range []string{"tenant_id", "project_id"} {
		sent, found := attrs[key]
		if !found {
			continue
		}
		if json.Unmarshal(sent, &owner) != nil {
			return "", nil, core.BadRequest("HTTPBadRequest", "Invalid input for %s.", key)
		}
		delete(attrs, key)
	}
	if !q.Owns(owner) {
		return "", nil, core.BadRequest("HTTPBadRequest", "Specifying 'project_id' or 'tenant_id' other than the authenticated project in request requires admin or advsvc privileges")
	}
	rest, err := json.Marshal(attrs)
	if err != nil {
		return "", nil, fmt.Errorf("encoding attributes: %w", err)
	}
	return owner, rest, nil
}

func updateRow[T any](svc *Service, k *collection[T], q *core.Request) (core.Reply, error) {
	row, err := k.findOwn(q)
	if err != nil {
		return core.Reply{}, err
	}
	raw, found := core.Unwrap(q.Body, k.singular)
	if !found {
		return core.Reply{}, core.BadRequest("HTTPBadRequest", "Unable to find '%s' in request body", k.singular)
	}
	if k.ignoresIfMatch == nil || !k.ignoresIfMatch(raw) {
		if err := svc.ifMatch(q, k.std(row)); err != nil {
			return core.Reply{}, err
		}
	}
	if err := k.update(q, row, raw); err != nil {
		return core.Reply{}, err
	}
	if string(raw) != "{}" {
		svc.Touch(k.std(row))
	}
	if k.updated != nil {
		return core.OK(map[string]any{k.singular: k.updated(row)})
	}
	return showRow(k, q, http.StatusOK, row)
}

// ifMatch implements the extension revision-if-match. A condition that is not a revision is ignored.
func (svc *Service) ifMatch(q *core.Request, std *Standard) error {
	if !svc.Config.HasExtension("revision-if-match") {
		return nil
	}
	for tag := range strings.SplitSeq(q.HTTP.Header.Get("If-Match"), ",") {
		text, isRevision := strings.CutPrefix(strings.Trim(tag, ` "`), "revision_number=")
		if !isRevision {
			continue
		}
		wanted, err := strconv.Atoi(text)
		if err != nil {
			return core.BadRequest("BadRequest", "Bad if-match request: Revision number etag must be in the format of revision_number=<int>.")
		}
		if wanted != std.RevisionNumber {
			return core.Fail(http.StatusPreconditionFailed, "RevisionNumberConstraintFailed", "Constrained to %d, but current revision is %d", wanted, std.RevisionNumber)
		}
	}
	return nil
}

// Touch records a change of a resource.
func (svc *Service) Touch(std *Standard) {
	std.RevisionNumber++
	std.UpdatedAt = core.Timestamp(svc.Now())
}

func (svc *Service) newStandard(projectID, description string) Standard {
	now := core.Timestamp(svc.Now())
	return Standard{
		ID: core.NewUUID(), ProjectID: projectID, TenantID: projectID, Description: description,
		Tags: []string{}, RevisionNumber: 1, CreatedAt: now, UpdatedAt: now,
	}
}
