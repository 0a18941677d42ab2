// Command pause holds a pod's namespaces: it waits for the end and reaps
// children.
package main
