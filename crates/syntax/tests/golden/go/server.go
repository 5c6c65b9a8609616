// Package server serves.
package server

import (
	"context"
	"fmt"

	. "example.com/dot"
	_ "example.com/driver"
	log "example.com/logging/v2"
)

import "os"

// MaxSize is the largest size.
const MaxSize = 10

const (
	// First is the first.
	First = iota
	second
)

var (
	// ErrClosed says that it is closed.
	ErrClosed = fmt.Errorf("closed")
	a, b      int
)

var single string

// Handler handles requests.
type Handler interface {
	fmt.Stringer
	Closer
	// Handle handles one.
	Handle(ctx context.Context, name string) error
}

type (
	// ID names a thing.
	ID string
	// Pair is two things.
	Pair[K comparable, V any] struct {
		Key   K
		Value V
	}
)

// Alias is another name.
type Alias = Pair[string, int]

// Server serves.
type Server struct {
	*Base
	log.Logger
	mutex sync.Mutex
	name  string
}

// New makes a server.
func New(name string, options ...Option) (*Server, error) {
	server := &Server{name: name}
	for _, option := range options {
		option(server)
	}
	local := 1
	return server, apply(server, log.Default(), local)
}

// Handle handles one.
func (s *Server) Handle(ctx context.Context, name string) error {
	go s.mutex.Lock()
	defer s.mutex.Unlock()
	pair := Pair[string, int]{Key: name}
	return s.Base.Handle(ctx, log.Entry{Text: pair.Key}.String(), os.Args[0])
}

func (p Pair[K, V]) swap() {
	Map[string, int](p)
	func() { inner() }()
}

func (o *Other) Elsewhere() {}

func assembly(x int) int
