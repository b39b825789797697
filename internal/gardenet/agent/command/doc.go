// Package command is the process of the node agent: its command line, its logs, its HTTP server and its memory. It must not know how the network of a node is made.
package command
