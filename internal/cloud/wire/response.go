package wire

import (
	"encoding/json"
	"maps"
	"net/http"
)

// Response is a response to the client.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// JSON returns a response with a body in JSON; status 500 if the body cannot be encoded.
func JSON(status int, body any) Response {
	encoded, err := json.Marshal(body)
	if err != nil {
		return Response{
			Status: http.StatusInternalServerError, Header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}},
			Body: []byte("encoding the response: " + err.Error()),
		}
	}
	return Response{Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: encoded}
}

// Write sends the response.
func (a Response) Write(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.Header)
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body) // the client may be gone
}

// dropConnection closes the connection in the middle of the status line. A connection closed without a single byte would make
// Go's transport repeat a GET silently.
func dropConnection(w http.ResponseWriter) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		w.WriteHeader(http.StatusBadGateway) // HTTP/2 and recorders have no connection to drop
		return
	}
	_, _ = buffered.WriteString("HTTP/1.1 ")
	_ = buffered.Flush()
	_ = conn.Close()
}
