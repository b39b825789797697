// Package process is what gardenet's processes on nodes have in common: how they log. It must not know what they do.
package process
