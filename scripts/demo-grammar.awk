# Writes English sentences about a small harbour town and their German
# translations, one "english<TAB>german" a line, none twice. A grammar of our
# own; what makes it worth attending to is German word order:
#
#   the baker bought a red lamp at the market yesterday .
#   der Bäcker hat gestern eine rote Lampe auf dem Markt gekauft .
#
#   the girl says that the old sailor switches off the radio .
#   das Mädchen sagt , dass der alte Matrose das Radio ausschaltet .
#
# Articles and adjectives agree with a noun further on, separable verbs fall
# apart in main clauses, the rest of the verb waits for the end, and numbers
# and half hours are said the other way round.
#
# Needs `pairs`; the same in every awk, as it uses no rand().

# --- chance ---------------------------------------------------------------

function below(n) {                       # 0 … n - 1 (Lehmer's generator)
    state = (state * 16807) % 2147483647
    return int(state / 2147483647 * n)
}
function chance(percent) {
    return below(100) < percent
}

# --- tables ---------------------------------------------------------------
# Fields stand between blanks; "_" in a field is a blank, "-" is nothing.

function noun(class, row) {               # en ens gender nominative oblique plural
    nouns[class, ++count[class]] = row
}
function verb(classes, row) {             # base 3rd past participle | 3rd prefix
    verbs[++verb_count] = row             # infinitive participle case preposition
    verb_objects[verb_count] = classes
}
function list(name, rows,    i, n, row) { # "en=de; en=de; …"
    n = split(rows, row, /; */)
    for (i = 1; i <= n; i++)
        lists[name, i] = row[i]
    count[name] = n
}
function tables(    n, c, g) {
    noun("person", "fisherman fishermen m Fischer Fischer Fischer")
    noun("person", "baker bakers m Bäcker Bäcker Bäcker")
    noun("person", "sailor sailors m Matrose Matrosen Matrosen")
    noun("person", "boy boys m Junge Jungen Jungen")
    noun("person", "captain captains m Kapitän Kapitän Kapitäne")
    noun("person", "uncle uncles m Onkel Onkel Onkel")
    noun("person", "teacher teachers f Lehrerin Lehrerin Lehrerinnen")
    noun("person", "painter painters f Malerin Malerin Malerinnen")
    noun("person", "doctor doctors f Ärztin Ärztin Ärztinnen")
    noun("person", "grandmother grandmothers f Großmutter Großmutter Großmütter")
    noun("person", "girl girls n Mädchen Mädchen Mädchen")
    noun("person", "child children n Kind Kind Kinder")
    noun("animal", "dog dogs m Hund Hund Hunde")
    noun("animal", "donkey donkeys m Esel Esel Esel")
    noun("animal", "cat cats f Katze Katze Katzen")
    noun("animal", "gull gulls f Möwe Möwe Möwen")
    noun("animal", "horse horses n Pferd Pferd Pferde")
    noun("food", "fish fish m Fisch Fisch Fische")
    noun("food", "apple apples m Apfel Apfel Äpfel")
    noun("food", "cake cakes m Kuchen Kuchen Kuchen")
    noun("food", "soup soups f Suppe Suppe Suppen")
    noun("food", "potato potatoes f Kartoffel Kartoffel Kartoffeln")
    noun("food", "egg eggs n Ei Ei Eier")
    noun("wood", "table tables m Tisch Tisch Tische")
    noun("wood", "chair chairs m Stuhl Stuhl Stühle")
    noun("wood", "door doors f Tür Tür Türen")
    noun("wood", "boat boats n Boot Boot Boote")
    noun("wood", "house houses n Haus Haus Häuser")
    noun("thing", "basket baskets m Korb Korb Körbe")
    noun("thing", "key keys m Schlüssel Schlüssel Schlüssel")
    noun("thing", "coat coats m Mantel Mantel Mäntel")
    noun("thing", "bell bells f Glocke Glocke Glocken")
    noun("thing", "bottle bottles f Flasche Flasche Flaschen")
    noun("thing", "net nets n Netz Netz Netze")
    noun("paper", "letter letters m Brief Brief Briefe")
    noun("paper", "map maps f Karte Karte Karten")
    noun("paper", "newspaper newspapers f Zeitung Zeitung Zeitungen")
    noun("paper", "book books n Buch Buch Bücher")
    noun("lid", "box boxes f Kiste Kiste Kisten")
    noun("lid", "gate gates n Tor Tor Tore")
    noun("lid", "window windows n Fenster Fenster Fenster")
    noun("light", "lamp lamps f Lampe Lampe Lampen")
    noun("light", "radio radios n Radio Radio Radios")

    verb("food thing paper", "buy buys bought bought kauft - kaufen gekauft a -")
    verb("food thing", "sell sells sold sold verkauft - verkaufen verkauft a -")
    verb("food", "eat eats ate eaten isst - essen gegessen a -")
    verb("food", "cook cooks cooked cooked kocht - kochen gekocht a -")
    verb("thing animal", "find finds found found findet - finden gefunden a -")
    verb("thing person animal", "look_for looks_for looked_for looked_for" \
         " sucht - suchen gesucht a -")
    verb("wood person animal", "see sees saw seen sieht - sehen gesehen a -")
    verb("wood", "paint paints painted painted malt an anmalen angemalt a -")
    verb("wood light", "repair repairs repaired repaired" \
         " repariert - reparieren repariert a -")
    verb("lid", "open opens opened opened macht auf aufmachen aufgemacht a -")
    verb("lid", "close closes closed closed macht zu zumachen zugemacht a -")
    verb("light", "switch_on switches_on switched_on switched_on" \
         " schaltet ein einschalten eingeschaltet a -")
    verb("light", "switch_off switches_off switched_off switched_off" \
         " schaltet aus ausschalten ausgeschaltet a -")
    verb("paper", "read reads read read liest - lesen gelesen a -")
    verb("thing paper", "bring_back brings_back brought_back brought_back" \
         " bringt zurück zurückbringen zurückgebracht a -")
    verb("thing animal", "take_along takes_along took_along taken_along" \
         " nimmt mit mitnehmen mitgenommen a -")
    verb("thing", "put_away puts_away put_away put_away" \
         " räumt weg wegräumen weggeräumt a -")
    verb("person", "call calls called called ruft an anrufen angerufen a -")
    verb("person", "invite invites invited invited lädt ein einladen eingeladen a -")
    verb("person animal", "wait_for waits_for waited_for waited_for" \
         " wartet - warten gewartet a auf")
    verb("person animal", "help helps helped helped hilft - helfen geholfen d -")
    verb("person", "thank thanks thanked thanked dankt - danken gedankt d -")
    verb("person", "listen_to listens_to listened_to listened_to" \
         " hört zu zuhören zugehört d -")

    list("person is", "sleeping=schläft; laughing=lacht; singing=singt; " \
         "working=arbeitet; dancing=tanzt; crying=weint")
    list("animal is", "sleeping=schläft; waiting=wartet; drinking=trinkt; " \
         "playing=spielt")
    list("weather", "it is raining=es regnet; it is snowing=es schneit; " \
         "the sun is shining=die Sonne scheint; it is getting dark=es dunkel wird")
    list("living", "old=alt; young=jung; small=klein; tall=groß; " \
         "friendly=freundlich; clever=klug; happy=fröhlich")
    list("lifeless", "old=alt; small=klein; big=groß; new=neu; red=rot; " \
         "blue=blau; green=grün; heavy=schwer; round=rund; beautiful=schön")
    list("modal", "wants to=will; can=kann; must=muss; should=soll")
    list("saying", "says=sagt; knows=weiß; thinks=denkt; hopes=hofft")
    list("question", "when=wann; why=warum; where=wo")
    list("place", "at the market=auf dem Markt; at the harbour=am Hafen; " \
         "in the kitchen=in der Küche; in the garden=im Garten; " \
         "on the bridge=auf der Brücke; behind the church=hinter der Kirche; " \
         "in front of the school=vor der Schule; under the tree=unter dem Baum")
    list("day", "monday=Montag; tuesday=Dienstag; wednesday=Mittwoch; " \
         "thursday=Donnerstag; friday=Freitag; saturday=Samstag; sunday=Sonntag")
    list("now", "today=heute; now=jetzt; every morning=jeden Morgen; " \
         "in the evening=am Abend")
    list("before", "yesterday=gestern; last night=gestern Abend; " \
         "this morning=heute Morgen; a week ago=vor einer Woche")
    list("after", "tomorrow=morgen; tonight=heute Abend; " \
         "next week=nächste Woche; soon=bald")
    list("number", "one=eins; two=zwei; three=drei; four=vier; five=fünf; " \
         "six=sechs; seven=sieben; eight=acht; nine=neun; ten=zehn; " \
         "eleven=elf; twelve=zwölf")
    list("ten", "twenty=zwanzig; thirty=dreißig; forty=vierzig; fifty=fünfzig; " \
         "sixty=sechzig; seventy=siebzig; eighty=achtzig; ninety=neunzig")

    split("der die das den die das dem der dem", word)
    n = split("m f n", gender)
    split("n a d", cases)
    split("der die das den die das dem der dem", the)
    split("dieser diese dieses diesen diese dieses diesem dieser diesem", this)
    split("- e - en e - em er em", a)
    split("e e e en e e en en en", weak)
    split("er e es en e es en en en", mixed)
    for (c = 1; c <= 3; c++)
        for (g = 1; g <= n; g++)
            cell[cases[c], gender[g]] = 3 * (c - 1) + g
}

# --- words ----------------------------------------------------------------

function plain(field) {
    gsub(/_/, " ", field)
    return field == "-" ? "" : field
}
function join(left, right) {
    return left == "" ? right : right == "" ? left : left " " right
}
# The functions below leave English in `en` and German in `de`.
function say_row(name, i,    pair) {
    split(lists[name, i], pair, "=")
    en = pair[1]
    de = pair[2]
}
function say_one(name) {
    say_row(name, 1 + below(count[name]))
}
function say_number(    tens_en, tens_de) {
    if (chance(50)) {
        say_row("number", 2 + below(11))
        return
    }
    say_one("ten")
    if (chance(20))
        return
    tens_en = en
    tens_de = de
    say_row("number", 1 + below(9))
    en = tens_en " " en
    de = (de == "eins" ? "ein" : de) " und " tens_de
}

# --- phrases --------------------------------------------------------------

# A noun with its article and perhaps an adjective; case is n, a or d. Says in
# `indefinite` whether the article is the indefinite one, in `said_gender` m, f or n.
function say_noun(class, case_,    field, at, dice, en_adjective, stem, ending, \
                  en_det, de_det) {
    split(nouns[class, 1 + below(count[class])], field, " ")
    at = cell[case_, field[3]]
    if (class != "person" && class != "animal" && case_ == "a" && chance(15)) {
        say_number()
        en_det = en
        de_det = de
        field[1] = field[2]
        field[5] = field[6]
        ending = "e"
    } else {
        dice = below(100)
        if (dice < 55) {
            en_det = "the"; de_det = the[at]; ending = weak[at]
        } else if (dice < 65) {
            en_det = "this"; de_det = this[at]; ending = weak[at]
        } else if (dice < 72) {
            en_det = "my"; de_det = "mein" plain(a[at]); ending = mixed[at]
        } else {
            en_det = "a"; de_det = "ein" plain(a[at]); ending = mixed[at]
        }
    }
    if (chance(40)) {
        say_one(class == "person" || class == "animal" ? "living" : "lifeless")
        en_adjective = en
        stem = de ending
    }
    said_gender = field[3]
    indefinite = en_det == "a"
    if (indefinite && (en_adjective == "" ? field[1] : en_adjective) ~ /^[aeiou]/)
        en_det = "an"
    en = join(join(en_det, en_adjective), field[1])
    de = join(join(de_det, stem), case_ == "n" ? field[4] : field[5])
}
function say_clock(    hour) {
    hour = 1 + below(11)
    say_row("number", hour + 1)
    next_en = en
    next_de = de
    say_row("number", hour)
    if (chance(40)) {
        en = "at half past " en
        de = "um halb " next_de
    } else if (chance(50)) {
        en = "at quarter to " next_en
        de = "um viertel vor " next_de
    } else {
        en = "at " en " o'clock"
        de = "um " (de == "eins" ? "ein" : de) " Uhr"
    }
}
function say_time(tense) {
    if (chance(25))
        say_clock()
    else if (tense != "now" && chance(25)) {
        say_one("day")
        en = "on " en
        de = "am " de
    } else
        say_one(tense)
}

# --- clauses --------------------------------------------------------------
# clause() draws the parts, English in s_en, o_en, …, German in s_de, o_de, …;
# the functions after it put them in order.

function clause(tense_, negation,    count_of, class, v) {
    tense = tense_
    split(verbs[v = 1 + below(verb_count)], f, " ")
    count_of = split(verb_objects[v], class, " ")
    say_noun("person", "n")
    s_en = en
    s_de = de
    say_noun(o_class = class[1 + below(count_of)], f[9])
    o_gender = said_gender
    not_en = negation ? "not" : ""
    not_de = ""
    if (negation && indefinite)
        sub(/^ein/, "kein", de)           # not a boat: kein Boot
    else if (negation)
        not_de = "nicht"
    o_en = en
    o_de = de
    if (f[10] != "-") {                   # nicht auf das Kind warten
        o_de = join(not_de, f[10] " " de)
        not_de = ""
    }
    p_en = p_de = t_en = t_de = front = ""
    if (chance(30)) {
        say_one("place")
        p_en = en
        p_de = de
    }
    if (chance(50)) {
        say_time(tense)
        t_en = en
        t_de = de
        front = chance(35)
    }
    if (tense == "after") {
        say_one("modal")
        m_en = en
        m_de = de
    }
}
function english_verb() {                 # with what belongs right before it
    if (tense == "after")
        return m_en " " plain(f[1])
    if (not_en != "")
        return (tense == "now" ? "does" : "did") " not " plain(f[1])
    return plain(tense == "now" ? f[2] : f[3])
}
function german_finite() {
    return tense == "now" ? f[5] : tense == "before" ? "hat" : m_de
}
function german_rest() {                  # what a main clause has at its end
    return tense == "now" ? plain(f[6]) : tense == "before" ? f[8] : f[7]
}
function english_end() {
    return join(join(o_en, p_en), front ? "" : t_en)
}
function english_main() {
    return join(front ? t_en : "", s_en " " english_verb() " " english_end())
}
function german_middle() {
    return join(join(o_de, not_de), p_de)
}
function german_main() {
    return join((front ? t_de " " german_finite() " " s_de \
                       : s_de " " join(german_finite(), t_de)) " " german_middle(),
                german_rest())
}
function german_verb_last() {
    return join(s_de, t_de) " " german_middle() " " \
           (tense == "now" ? plain(f[6]) f[5] : german_rest() " " german_finite())
}

# --- sentences ------------------------------------------------------------

function any_tense(    i) {
    i = below(3)
    return i == 0 ? "now" : i == 1 ? "before" : "after"
}
function say_statement() {
    clause(any_tense(), 0)
    en = english_main() " ."
    de = german_main() " ."
}
function say_negation() {
    clause(chance(50) ? "now" : "before", 1)
    en = english_main() " ."
    de = german_main() " ."
}
function say_that(    who_en, who_de) {
    say_noun("person", "n")
    who_en = en
    who_de = de
    say_one("saying")
    who_en = who_en " " en
    who_de = who_de " " de
    clause(any_tense(), 0)
    front = ""
    en = who_en " that " english_main() " ."
    de = who_de " , dass " german_verb_last() " ."
}
function say_because(    main_en, main_de, class) {
    clause(chance(50) ? "now" : "after", 0)
    main_en = english_main()
    main_de = german_main()
    if (chance(40)) {
        say_one("weather")
        s_en = en
        s_de = de
    } else {
        class = chance(50) ? "person" : "animal"
        say_noun(class, "n")
        s_en = en " is "
        s_de = de " "
        say_one(class " is")
        s_en = s_en en
        s_de = s_de de
    }
    en = main_en " because " s_en " ."
    de = main_de " , weil " s_de " ."
}
# The relative clause stays behind, whatever the verb waits for:
# der Junge hat den Hund gesehen , der im Garten schläft .
function say_relative(    who_en, who_de, being) {
    do
        clause(any_tense(), 0)
    while (o_class != "person" && o_class != "animal")
    p_en = p_de = ""
    front = t_en != ""
    who_en = english_main() (o_class == "person" ? " who is " : " that is ")
    who_de = german_main() " , " the[cell["n", o_gender]] " "
    say_one(o_class " is")
    who_en = who_en en
    being = de
    say_one("place")
    en = who_en " " en " ."
    de = who_de de " " being " ."
}
function say_question(    ask_en, ask_de) {
    clause(chance(50) ? "now" : "before", 0)
    front = ask_en = ask_de = ""
    if (chance(40)) {
        say_one("question")
        ask_en = en
        ask_de = de
        if (en == "where")
            p_en = p_de = ""
        if (en == "when")
            t_en = t_de = ""
    }
    en = join(ask_en, tense == "now" ? "does" : "did") " " s_en " " plain(f[1]) " " \
         english_end() " ?"
    de = join(join(join(ask_de, german_finite()) " " s_de, t_de) " " german_middle(),
              german_rest()) " ?"
}

BEGIN {
    state = 20161
    tables()
    while (written < pairs) {
        kind = below(100)
        if (kind < 48)
            say_statement()
        else if (kind < 57)
            say_negation()
        else if (kind < 72)
            say_that()
        else if (kind < 83)
            say_because()
        else if (kind < 91)
            say_relative()
        else
            say_question()
        if (!(en in seen)) {
            seen[en] = 1
            print en "\t" de
            written++
        }
    }
}
