package typed

import (
	"errors"
	"fmt"

	"github.com/memring/memring/client"
)

// Why a value could not be encoded or decoded. They match a [DecodeError] or an
// [EncodeError] with [errors.Is].
var (
	// ErrCodec: the codec has refused the value. Of what is read, that is most often
	// a value which another codec or an older program has stored.
	ErrCodec = errors.New("refused by the codec")
	// ErrUnknownCompression: the flags name a compressor that this cache does not
	// have. See Config.Readers.
	ErrUnknownCompression = errors.New("compressed by what is neither Config.Compressor nor among Config.Readers")
	// ErrCorrupt: what is marked as compressed is cut short, damaged, or was never
	// compressed at all.
	ErrCorrupt = errors.New("compressed value is corrupt")
	// ErrDecodedSize: decompressed, the value exceeds Config.MaxDecodedBytes.
	ErrDecodedSize = errors.New("decompressed value is too large")
	// ErrCompressor: the compressor has failed on a value to be stored.
	ErrCompressor = errors.New("compressor failed")

	errFlags = fmt.Errorf("%w: Item.Flags has bits of Config.FlagMask", client.ErrArgument)
)

// DecodeError says that a value was got but cannot be decoded. The item stays as
// it is on the server. The error's text has neither key nor value in it, hence not
// the codec's words either, only the type of its error.
type DecodeError struct {
	Key   string
	Flags uint32 // all of them, as stored
	CAS   uint64 // to replace just this item

	// Reason is ErrCodec, ErrUnknownCompression, ErrCorrupt or ErrDecodedSize.
	Reason error
	// Err is the error of the codec or the compressor, nil if there is none. Its text
	// may quote the value.
	Err error

	miss bool // Config.UndecodableIsMiss
}

func (e *DecodeError) Error() string {
	return "memring: value cannot be decoded: " + because(e.Reason, e.Err)
}

// Unwrap returns the error of the codec or the compressor.
func (e *DecodeError) Unwrap() error { return e.Err }

// Is makes a DecodeError match its Reason and, with Config.UndecodableIsMiss,
// [client.ErrNotFound].
func (e *DecodeError) Is(err error) bool {
	return err == e.Reason || e.miss && err == client.ErrNotFound
}

// EncodeError says that a value cannot be encoded. Nothing was sent. Its text has
// neither key nor value in it.
type EncodeError struct {
	Key string

	// Reason is ErrCodec or ErrCompressor, or matches client.ErrArgument if
	// Item.Flags has bits of Config.FlagMask.
	Reason error
	// Err is the error of the codec or the compressor, nil if there is none. Its text
	// may quote the value.
	Err error
}

func (e *EncodeError) Error() string {
	return "memring: value cannot be encoded: " + because(e.Reason, e.Err)
}

// Unwrap returns the error of the codec or the compressor.
func (e *EncodeError) Unwrap() error { return e.Err }

// Is makes an EncodeError match its Reason.
func (e *EncodeError) Is(err error) bool { return errors.Is(e.Reason, err) }

// because leaves out what err says: json's errors quote numbers, gob's names, and
// what a user's codec says nobody knows.
func because(reason, err error) string {
	if err == nil {
		return reason.Error()
	}
	return fmt.Sprintf("%v (%T)", reason, err)
}
