package openstack

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/trellis-garden/trellis/internal/cloud"
)

const ifMatch = "If-Match"

// resource is one kind of object of a service, with the five actions that all kinds share.
type resource[T any] struct {
	session *Session
	service service
	// microversion is that of all calls for the kind; empty means the first.
	microversion string
	path         string // below the service's endpoint
	detail       string // appended to the path of a list, if the plain list lacks fields
	singular     string // the JSON key around one object
	plural       string // the JSON key around a list
	// pageSize is the requested maximum of objects in a page; 0 is the default of the service.
	pageSize int
	// decodedSize returns how many bytes a decoded object takes, if that is far less than in the response. Without it, all bytes of the response count.
	decodedSize func(T) int
}

// filter selects objects of one kind.
type filter[T any] interface {
	// query is sent to the service.
	query() url.Values
	// matches checks each object of the response: a service ignores unknown parameters, and then returns all objects, which must not be deleted.
	matches(T) bool
}

// errMarkerGone is returned if a list cannot be continued: the last object of a page was deleted before the next page was requested.
var errMarkerGone = errors.New("the last object of the page before was deleted")

// list returns all matching objects, page by page. A list that cannot be continued is restarted, and never fails with cloud.NotFound for that reason: callers
// would take it for the absence of the resource.
func (r resource[T]) list(ctx context.Context, f filter[T]) ([]T, error) {
	const attempts = 3
	var err error
	for range attempts {
		var found []T
		if found, err = r.listPages(ctx, f); !errors.Is(err, errMarkerGone) {
			return found, err
		}
	}
	return nil, err
}

func (r resource[T]) listPages(ctx context.Context, f filter[T]) ([]T, error) {
	objects := listing[T]{plural: r.plural, matches: f.matches, decodedSize: r.decodedSize}
	path, asked := r.path+r.detail, f.query()
	if r.pageSize > 0 {
		asked.Set("limit", strconv.Itoa(r.pageSize))
	}
	for query, first := asked, true; ; first = false {
		err := r.session.do(ctx, call{
			service: r.service, method: http.MethodGet, path: path, query: query, microversion: r.microversion,
			expects: pageResponse, response: &objects,
		})
		response, refused := errors.AsType[*ResponseError](err)
		if refused && !first && (response.Status == http.StatusNotFound || response.Status == http.StatusBadRequest) {
			return nil, cloud.Errorf(cloud.Unavailable, "reading the next page: %w: %s", errMarkerGone, response)
		}
		if err != nil {
			return nil, err
		}
		next, err := objects.next(asked, query)
		if err != nil {
			return nil, classify(r.service, http.MethodGet, path, err)
		}
		if next == nil {
			return objects.found, nil
		}
		query = next
	}
}

func (r resource[T]) get(ctx context.Context, id string) (T, error) {
	return r.itemRequest(ctx, http.MethodGet, id, nil, nil)
}

func (r resource[T]) create(ctx context.Context, in any) (T, error) {
	var created T
	response := map[string]json.RawMessage{}
	err := r.session.do(ctx, call{
		service: r.service, method: http.MethodPost, path: r.path, microversion: r.microversion,
		body: map[string]any{r.singular: in}, response: &response,
	})
	if err != nil {
		return created, err
	}
	return created, r.decode(response, r.singular, &created)
}

func (r resource[T]) update(ctx context.Context, id string, in any, headers map[string]string) (T, error) {
	return r.itemRequest(ctx, http.MethodPut, id, map[string]any{r.singular: in}, headers)
}

func (r resource[T]) remove(ctx context.Context, id string, query url.Values) error {
	path, err := r.item(id)
	if err != nil {
		return err
	}
	return r.session.do(ctx, call{service: r.service, method: http.MethodDelete, path: path, query: query, microversion: r.microversion})
}

func (r resource[T]) itemRequest(ctx context.Context, method, id string, body any, headers map[string]string) (T, error) {
	var object T
	path, err := r.item(id)
	if err != nil {
		return object, err
	}
	response := map[string]json.RawMessage{}
	err = r.session.do(ctx, call{
		service: r.service, method: method, path: path, body: body, headers: headers, microversion: r.microversion, response: &response,
	})
	if err != nil {
		return object, err
	}
	return object, r.decode(response, r.singular, &object)
}

// item returns the path of one object. It rejects an empty ID, which would result in the path of the collection.
func (r resource[T]) item(id string) (string, error) {
	if id == "" {
		return "", cloud.Errorf(cloud.Unknown, "a call for one %s needs its ID", r.singular)
	}
	return r.path + "/" + url.PathEscape(id), nil
}

// decode decodes the value of a key in a response.
func (r resource[T]) decode(response map[string]json.RawMessage, key string, into any) error {
	content, ok := response[key]
	if !ok {
		return cloud.Errorf(cloud.Unavailable, "the response of the %s service lacks %q", r.service, key)
	}
	if err := json.Unmarshal(content, into); err != nil {
		return cloud.Errorf(cloud.Unavailable, "decoding %q of the %s service: %w", key, r.service, sanitizeError(err))
	}
	return nil
}

// nextLink returns the link to the next page, or an empty string on the last one. Glance has a separate field for it, the others have it in a list of links.
func nextLink(response map[string]json.RawMessage, plural string) string {
	var next string
	if raw, ok := response["next"]; ok && json.Unmarshal(raw, &next) == nil {
		return next
	}
	var links []struct {
		Rel  string `json:"rel"`
		Href string `json:"href"`
	}
	if raw, ok := response[plural+"_links"]; !ok || json.Unmarshal(raw, &links) != nil {
		return ""
	}
	for _, link := range links {
		if link.Rel == "next" {
			return link.Href
		}
	}
	return ""
}

// nextQuery returns the query of the next page, or nil without a link. Only the query of the link is used: behind a proxy its
// host and scheme are often not those through which the service can be reached. Parameters of the request that the link
// lacks are added, since Octavia's links contain only the marker.
func nextQuery(link string, asked url.Values) url.Values {
	next, err := url.Parse(link)
	if link == "" || err != nil {
		return nil
	}
	query := next.Query()
	for key, values := range asked {
		if !query.Has(key) {
			query[key] = values
		}
	}
	return query
}

// query collects the criteria of a list call.
type query url.Values

func (q query) text(key, value string) {
	if value != "" {
		url.Values(q).Add(key, value)
	}
}

func (q query) any(key string, values []string) {
	for _, value := range values {
		q.text(key, value)
	}
}

func (q query) flag(key string, value *bool) {
	if value != nil {
		q.text(key, strconv.FormatBool(*value))
	}
}

// emptyOrEqual reports whether a criterion is empty or met.
func emptyOrEqual(want, got string) bool { return want == "" || want == got }

// emptyOrContains reports whether a set of alternatives is empty or contains the value.
func emptyOrContains(want []string, got string) bool {
	return len(want) == 0 || slices.Contains(want, got)
}
