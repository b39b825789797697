package conformance

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	idA = "11111111-1111-4111-8111-111111111111"
	idB = "22222222-2222-4222-8222-222222222222"
)

// recordExchanges returns what the recorder writes down of answers to requests, each given by its line, what it sends and what comes.
func recordExchanges(t *testing.T, rounds ...[3]string) []Exchange {
	t.Helper()
	r := &recorder{placeholders: newPlaceholders()}
	for _, round := range rounds {
		response := &Response{request: round[0], Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/json; charset=UTF-8"}}, Body: decoded([]byte(round[2]))}
		var sent any
		if round[1] != "" {
			sent = json.RawMessage(round[1])
		}
		r.add(response, Network, "/v2.0/things/"+idA, sent)
	}
	return r.all
}

func TestRecorder(t *testing.T) {
	for name, test := range map[string]struct {
		sent, answer string
		facts        map[string]string
	}{
		"an ID becomes the kind of the object and its number, wherever it turns up": {
			answer: `{"thing": {"id": "` + idA + `", "uses": "` + idB + `", "text": "thing ` + idA + ` is in use"}}`,
			facts:  map[string]string{"thing.id": `"{thing 1}"`, "thing.uses": `"{id}"`, "thing.text": `"thing {thing 1} is in use"`},
		},
		"times, addresses of pages and chosen values become words": {
			answer: `{"thing": {"created_at": "2026-01-02T03:04:05Z", "href": "http://127.0.0.1:9696/v2.0", "mac_address": "fa:16:3e:00:00:01", "revision_number": 3}}`,
			facts: map[string]string{
				"thing.created_at": `"{time}"`, "thing.href": `"{url}"`, "thing.mac_address": `"{mac address}"`, "thing.revision_number": "{number}",
			},
		},
		"the form of a time stays": {
			answer: `{"thing": {"a": "2026-01-02T03:04:05.123456", "b": "2026-01-02 03:04:05+00:00"}}`,
			facts:  map[string]string{"thing.a": `"{time with 6 digits of a second without a zone}"`, "thing.b": `"{time after a blank of zone +00:00}"`},
		},
		"what was sent as part of something else was not sent": {
			sent:   `{"thing": {"ip_address": "10.0.0.50"}}`,
			answer: `{"thing": {"ip_address": "10.0.0.5"}}`,
			facts:  map[string]string{"thing.ip_address": `"{address}"`},
		},
		"what was sent stays": {
			sent:   `{"thing": {"mac_address": "fa:16:3e:00:00:01", "mtu": 1400}}`,
			answer: `{"thing": {"mac_address": "fa:16:3e:00:00:01", "mtu": 1400}}`,
			facts:  map[string]string{"thing.mac_address": `"fa:16:3e:00:00:01"`, "thing.mtu": "1400"},
		},
		"null, false, numbers, and empty lists and objects differ": {
			answer: `{"thing": {"a": null, "b": false, "c": 0, "d": "", "e": [], "f": {}}}`,
			facts:  map[string]string{"thing.a": "null", "thing.b": "false", "thing.c": "0", "thing.d": `""`, "thing.e#": "0", "thing.f": "{}"},
		},
		"lists come in an order of their own": {
			answer: `{"things": [{"name": "b"}, {"name": "a"}]}`,
			facts:  map[string]string{"things#": "2", "things[0].name": `"a"`, "things[1].name": `"b"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			exchanges := recordExchanges(t, [3]string{"GET network", test.sent, test.answer})
			require.Len(t, exchanges, 1)
			test.facts["Content-Type"] = "application/json"
			assert.Empty(t, cmp.Diff(test.facts, exchanges[0].Attributes))
		})
	}
}

func TestRecorder_Off(t *testing.T) {
	r := &recorder{placeholders: newPlaceholders(), off: true}
	r.add(&Response{request: "POST network", Status: 201, Body: map[string]any{"thing": map[string]any{"id": idB}}}, Network, "/v2.0/things", nil)
	assert.Empty(t, r.all)
	assert.Equal(t, "thing {thing 1}", r.placeholders.replace("thing "+idB))
}

func TestDifferences(t *testing.T) {
	exchange := func(status int, attributes ...string) Exchange {
		e := Exchange{Request: "GET network /v2.0/things", Status: status, Attributes: map[string]string{}}
		for i := 0; i < len(attributes); i += 2 {
			e.Attributes[attributes[i]] = attributes[i+1]
		}
		return e
	}
	for name, test := range map[string]struct {
		of, from []Exchange
		want     []string
	}{
		"equal answers do not differ":               {of: []Exchange{exchange(200, "a", "1")}, from: []Exchange{exchange(200, "a", "1")}},
		"what only the other shows is passed over":  {of: []Exchange{exchange(200)}, from: []Exchange{exchange(200, "a", "1")}},
		"what only the one shows is not":            {of: []Exchange{exchange(200, "a", "1")}, from: []Exchange{exchange(200)}, want: []string{"request 1, GET network /v2.0/things: a = 1, which the other does not have"}},
		"null is not an empty text":                 {of: []Exchange{exchange(200, "a", `""`)}, from: []Exchange{exchange(200, "a", "null")}, want: []string{`request 1, GET network /v2.0/things: a = "" instead of null`}},
		"another status is told with both messages": {of: []Exchange{exchange(409, "X.message", `"no"`)}, from: []Exchange{exchange(400, "X.message", `"never"`)}, want: []string{`request 1, GET network /v2.0/things: answered 409 "no" instead of 400 "never"`}},
		"a request too few":                         {from: []Exchange{exchange(200)}, want: []string{"request 1 is missing: GET network /v2.0/things"}},
		"a request too many":                        {of: []Exchange{exchange(200)}, want: []string{"request 1 is one too many: GET network /v2.0/things"}},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.want, Differences(test.of, test.from)) })
	}
}

func TestWriteRecords_ReadRecords(t *testing.T) {
	folder := t.TempDir()
	area := Areas()[slices.IndexFunc(Areas(), func(a Area) bool { return len(a.Behaviours) > 0 })]
	var results []Result
	want := map[string][]Exchange{}
	for _, b := range area.Behaviours {
		exchanges := []Exchange{{Request: "GET network /v2.0/things", Status: 404, Attributes: map[string]string{
			"error.message": `"not = found\nat all"`, "things#": "0", "Content-Type": "application/json",
		}}}
		results = append(results, Result{Area: area.Name, Name: b.Name, Tried: true, Passed: true, Exchanges: exchanges})
		want[b.Name] = exchanges
	}
	require.NoError(t, WriteRecords(folder, "a cloud", results))
	got, err := ReadRecords(folder)
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(want, got))

	t.Run("an area with a failure keeps its file", func(t *testing.T) {
		results[0].Passed, results[0].Exchanges = false, nil
		require.NoError(t, WriteRecords(folder, "a cloud", results))
		got, err := ReadRecords(folder)
		require.NoError(t, err)
		assert.Empty(t, cmp.Diff(want, got))
	})
}
