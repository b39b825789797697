// Package nflog receives packets that rules of nftables log to a group of the kernel's packet log (NFLOG). It must not know rules, policies or pods.
package nflog
