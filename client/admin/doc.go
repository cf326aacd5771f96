// Package admin administers the servers of a [client.Client] one by one: their
// statistics, their keys, their log, their settings.
//
//	s, err := admin.Of(c, "127.0.0.1:11211") // as client.New was given it
//	if err != nil {
//		return err
//	}
//	g, err := s.General(ctx)
//	if err != nil {
//		return err
//	}
//	fmt.Println(g.CurrItems, g.Evictions, g.Raw["slab_reassign_busy_items"])
//	for k, err := range s.Keys(ctx, admin.AllClasses) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(k.Key, k.Expiry)
//	}
//
// What is done to all servers at once is in package client: Client.Stats, Version,
// FlushAll and Ping.
//
// # Calls
//
// A call is one command to one server, among the requests of all others on the
// client's connections. It ends at its context's deadline or after
// Config.OpTimeout, and its errors are the client's: a [client.OpError] that says
// which server and what is known of the request, around [client.ErrTimeout],
// [client.ErrArgument] and so on, or around one of this package's if the server has
// said no. Arguments are checked before anything is sent. What a server is too old for
// it refuses itself, with [client.ErrUnsupported] where that can be told.
//
// # Streams
//
// [Server.Keys], [Server.MGDump] and [Server.Watch] take a connection over, so they get
// one of their own, made as Config says, with TLS and credentials if there are any, and
// closed when the loop is left. Config.OpTimeout bounds its beginning alone. It is read
// in the caller's goroutine, 64 KiB ahead at most: what the loop has no time for waits
// in the kernel and then in the server. However many keys there are, they cost no
// memory here. A second loop over the same iterator asks anew.
//
// A stream ends by break, when its context ends, by [client.Client.Close], or with
// its connection; all but the first are an error, which is the last thing that it
// yields. One that was cut short never looks like one that is complete. These
// connections are not in [client.Client.Counters].
//
// # Statistics
//
// What memcached has sent for years has a field; everything it sent is in Raw, by
// its own names. A field that the server did not send is zero, and so is one that
// it sent in a form unknown here: neither fails the call.
//
// # Keys
//
// Keys are as the server has them: begun with Config.KeyPrefix, and hashed where
// Config.HashLongKeys has that done; [Server.Debug] takes them so, too. They can be
// personal data. No error has a key or a value in its text.
//
// # Limitations
//
// There is no shutdown: it ends the connection in place of an answer, so that
// nobody could say whether it was carried out. Send the process a signal. A server
// started with -X or `-o no_lru_crawler` has neither Keys nor MGDump, and one with -W
// no Watch.
package admin
