// Command probe runs in pods of tests: it listens on the given ports, and connects on request: GET /?to=10.0.0.1:80 is answered with 200 if a
// connection is possible within a second, and otherwise with 504. A port after "echo=" returns what it receives; GET /?to=10.0.0.1:7000&for=30s
// keeps a connection to such a port busy for that time, and is answered with a Report.
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

func main() {
	failed := make(chan error)
	for _, port := range os.Args[1:] {
		if echoed, ok := strings.CutPrefix(port, "echo="); ok {
			go func() { failed <- echo(":" + echoed) }()
			continue
		}
		server := &http.Server{Addr: ":" + port, Handler: http.HandlerFunc(answer), ReadHeaderTimeout: time.Second}
		go func() { failed <- server.ListenAndServe() }()
	}
	log.Fatal(<-failed)
}

func answer(w http.ResponseWriter, request *http.Request) {
	to := request.URL.Query().Get("to")
	if to == "" {
		return
	}
	connection, err := net.DialTimeout("tcp", to, time.Second)
	if err != nil {
		w.WriteHeader(http.StatusGatewayTimeout)
		fmt.Fprintln(w, err)
		return
	}
	defer func() { _ = connection.Close() }()
	if duration, err := time.ParseDuration(request.URL.Query().Get("for")); err == nil {
		report(w, keepBusy(connection, duration))
	}
}
