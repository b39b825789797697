// Package fake is a stateful example cloud behind real HTTP on loopback: it authenticates requests, rejects impossible ones, and keeps resources
// in memory. It shares no code with the client, since its tests would not find errors in shared code.
package fake
