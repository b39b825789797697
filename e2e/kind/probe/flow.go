package main

import (
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

const (
	// interval is the pause between two messages, and echoTimeout the longest time for an echo of one.
	interval, echoTimeout = 10 * time.Millisecond, 20 * time.Second
	message               = "0123456789abcdef"
)

// Report describes a connection that was kept busy.
type Report struct {
	// Sent and Received are numbers of messages and of their echoes.
	Sent     int `json:"sent"`
	Received int `json:"received"`
	// Longest is the longest time between a message and its echo.
	Longest time.Duration `json:"longest"`
	// Error is what ended the connection early, or is empty.
	Error string `json:"error"`
}

// echo returns what it receives to whoever connects.
func echo(address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	for {
		connection, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			_, _ = io.Copy(connection, connection)
			_ = connection.Close()
		}()
	}
}

// keepBusy sends a message and waits for its echo, a hundred times a second at most.
func keepBusy(connection net.Conn, duration time.Duration) (r Report) {
	buffer := make([]byte, len(message))
	for end := time.Now().Add(duration); time.Now().Before(end); time.Sleep(interval) {
		start := time.Now()
		_ = connection.SetDeadline(start.Add(echoTimeout))
		if _, err := connection.Write([]byte(message)); err != nil {
			r.Error = err.Error()
			return r
		}
		r.Sent++
		if _, err := io.ReadFull(connection, buffer); err != nil {
			r.Error = err.Error()
			return r
		}
		r.Received++
		r.Longest = max(r.Longest, time.Since(start))
	}
	return r
}

func report(w http.ResponseWriter, r Report) {
	if err := json.NewEncoder(w).Encode(r); err != nil {
		log.Print(err)
	}
}
