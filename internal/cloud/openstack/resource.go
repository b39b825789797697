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
	// microversion is that of all calls about the kind; empty means the first.
	microversion string
	path         string // below the service's endpoint
	detail       string // appended to the path of a list, where the plain list is terse
	singular     string // the JSON key around one object
	plural       string // the JSON key around a list
	// pageSize is how many objects a page is asked to have at most; 0 leaves that to the service.
	pageSize int
	// decodedSize tells how many bytes an object takes once decoded, where that is far less than on the wire. Without it all bytes count.
	decodedSize func(T) int
}

// filter selects objects of one kind.
type filter[T any] interface {
	// query asks the service for them.
	query() url.Values
	// matches checks each object of the answer: a service ignores a parameter that it does not know, and then hands over
	// everything it has, which is no base for a deletion.
	matches(T) bool
}

// errMarkerGone says that a list cannot go on: the object with which a page ended has been deleted before the next page was asked for.
var errMarkerGone = errors.New("what the page before ended with is gone")

// list returns all objects that match, page by page. A list that cannot go on begins anew, and never ends in cloud.NotFound because of that: callers
// would take it for the absence of what they look for.
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

// item returns the path of one object. An empty ID is refused: it would turn the object's path into the collection's.
func (r resource[T]) item(id string) (string, error) {
	if id == "" {
		return "", cloud.Errorf(cloud.Unknown, "a call about one %s needs its ID", r.singular)
	}
	return r.path + "/" + url.PathEscape(id), nil
}

// decode reads what stands under a key of an answer.
func (r resource[T]) decode(response map[string]json.RawMessage, key string, into any) error {
	content, ok := response[key]
	if !ok {
		return cloud.Errorf(cloud.Unavailable, "the answer of the %s service lacks %q", r.service, key)
	}
	if err := json.Unmarshal(content, into); err != nil {
		return cloud.Errorf(cloud.Unavailable, "decoding %q of the %s service: %w", key, r.service, sanitizeError(err))
	}
	return nil
}

// nextLink returns the link to the page after an answer's, or nothing on the last one. Glance has it on its own, the others among
// links of several kinds.
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
// host and scheme are often not those through which the service can be reached. What the link forgets of what was asked for is
// added, since Octavia's say nothing but where to go on.
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

// emptyOrEqual reports whether a criterion is not given or met.
func emptyOrEqual(want, got string) bool { return want == "" || want == got }

// emptyOrContains reports whether a set of alternatives is not given or holds what there is.
func emptyOrContains(want []string, got string) bool {
	return len(want) == 0 || slices.Contains(want, got)
}
