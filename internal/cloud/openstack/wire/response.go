package wire

import (
	"encoding/json"
	"maps"
	"net/http"
)

// Response is what goes back to the client.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// JSON is an answer with a body in JSON. Of what cannot be encoded it says so, as a server does that has a bug.
func JSON(status int, body any) Response {
	encoded, err := json.Marshal(body)
	if err != nil {
		return Response{
			Status: http.StatusInternalServerError, Header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}},
			Body: []byte("encoding the answer: " + err.Error()),
		}
	}
	return Response{Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: encoded}
}

// Write sends the answer.
func (a Response) Write(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.Header)
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body) // a client that went away does not read its answer
}

// dropConnection closes the connection in the middle of the status line. A connection closed without a single byte would make
// Go's transport repeat a GET silently, and the caller would never see the loss.
func dropConnection(w http.ResponseWriter) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		w.WriteHeader(http.StatusBadGateway) // HTTP/2 and recorders have no connection to cut: what a proxy would say
		return
	}
	_, _ = buffered.WriteString("HTTP/1.1 ")
	_ = buffered.Flush()
	_ = conn.Close()
}
