package fake

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// registerAdmin serves state, call log and faults to other processes, below /-/ and without a token. Bodies are JSON; durations in bodies are
// nanoseconds, in queries written as "200ms".
//
//	GET    /-/healthz                      200 once the cloud listens
//	GET    /-/state?project=garden         State
//	GET    /-/tree?project=garden          the same, drawn, as text
//	GET    /-/log                          Calls; with format=text as text, with format=summary counted
//	DELETE /-/log                          empties it
//	GET    /-/faults                       the armed faults
//	POST   /-/faults                       arms a Fault
//	DELETE /-/faults                       disarms all
//	PUT    /-/latency?value=200ms
//	PUT    /-/quotas?project=garden&resource=router&limit=3
//	PUT    /-/transitions?kind=...         a Transition
//	PUT    /-/exhausted?subnet=public-a&value=true
//	DELETE /-/tokens                       revokes all tokens
//	POST   /-/plant?project=garden&collection=networks   Attrs; answers {"id": ...}
//	POST   /-/reset                        empties the log, disarms the faults, no latency
func (c *Cloud) registerAdmin() {
	c.core.Mux.HandleFunc("GET /-/healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	c.core.Mux.HandleFunc("GET /-/state", func(w http.ResponseWriter, r *http.Request) {
		writeJSON(w, c.State(r.URL.Query().Get("project")))
	})
	c.core.Mux.HandleFunc("GET /-/tree", func(w http.ResponseWriter, r *http.Request) {
		writeText(w, c.Tree(r.URL.Query().Get("project")))
	})
	c.core.Mux.HandleFunc("GET /-/log", c.adminLog)
	c.core.Mux.HandleFunc("DELETE /-/log", func(http.ResponseWriter, *http.Request) { c.ResetLog() })
	c.core.Mux.HandleFunc("GET /-/faults", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, c.Faults()) })
	c.core.Mux.HandleFunc("DELETE /-/faults", func(http.ResponseWriter, *http.Request) { c.ClearFaults() })
	c.core.Mux.HandleFunc("DELETE /-/tokens", func(http.ResponseWriter, *http.Request) { c.RevokeTokens() })
	c.core.Mux.HandleFunc("POST /-/reset", func(http.ResponseWriter, *http.Request) {
		c.ResetLog()
		c.ClearFaults()
		c.SetLatency(0)
	})
	c.adminDo("POST /-/faults", func(r *http.Request) (any, error) {
		var f wire.Fault
		if err := readJSON(r, &f); err != nil {
			return nil, err
		}
		c.Inject(f)
		return f, nil
	})
	c.adminDo("PUT /-/latency", func(r *http.Request) (any, error) {
		d, err := time.ParseDuration(r.URL.Query().Get("value"))
		if err != nil {
			return nil, fmt.Errorf("reading the latency: %w", err)
		}
		c.SetLatency(d)
		return map[string]string{"latency": d.String()}, nil
	})
	c.adminDo("PUT /-/transitions", func(r *http.Request) (any, error) {
		var t core.Transition
		if err := readJSON(r, &t); err != nil {
			return nil, err
		}
		c.SetTransition(r.URL.Query().Get("kind"), t)
		return t, nil
	})
	c.adminDo("PUT /-/quotas", c.adminQuota)
	c.adminDo("PUT /-/exhausted", func(r *http.Request) (any, error) {
		full, err := strconv.ParseBool(r.URL.Query().Get("value"))
		if err != nil {
			return nil, fmt.Errorf("reading the value: %w", err)
		}
		return map[string]bool{"exhausted": full}, c.ExhaustSubnet(r.URL.Query().Get("subnet"), full)
	})
	c.adminDo("POST /-/plant", func(r *http.Request) (any, error) {
		var attrs Attrs
		if err := readJSON(r, &attrs); err != nil {
			return nil, err
		}
		id, err := c.CreateResource(r.URL.Query().Get("project"), r.URL.Query().Get("collection"), attrs)
		return map[string]string{"id": id}, err
	})
}

// adminDo registers a call that answers with JSON, or with 400 and the error as text.
func (c *Cloud) adminDo(pattern string, do func(*http.Request) (any, error)) {
	c.core.Mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		out, err := do(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		writeJSON(w, out)
	})
}

func (c *Cloud) adminLog(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Query().Get("format") {
	case "text":
		writeText(w, c.Log().String())
	case "summary":
		writeText(w, c.Log().Summary())
	default:
		writeJSON(w, c.Log())
	}
}

func (c *Cloud) adminQuota(r *http.Request) (any, error) {
	query := r.URL.Query()
	limit, err := strconv.Atoi(query.Get("limit"))
	if err != nil {
		return nil, fmt.Errorf("reading the limit: %w", err)
	}
	return map[string]int{query.Get("resource"): limit}, c.SetQuota(query.Get("project"), query.Get("resource"), limit)
}

func readJSON(r *http.Request, into any) error {
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("decoding the body: %w", err)
	}
	return nil
}

func writeJSON(w http.ResponseWriter, v any) { wire.JSON(http.StatusOK, v).Write(w) }

func writeText(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, text)
}
