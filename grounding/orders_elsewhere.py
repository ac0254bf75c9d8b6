"""Orders to a machine in other languages than English: forget the rules, answer only this, a message to the model."""

import re

_LATIN = (
    # German
    r"\b(?:ignorier\w*|vergiss|vergessen sie|missachte\w*)\b.{0,60}\b(?:anweisung|regel|vorgabe|instruktion|befehl|obige|vorherig|bisherig)\w*",
    r"\b(?:neue|vorherige|bisherige|folgende)[nrs]?\s+(?:anweisung|instruktion|systemnachricht)\w*",
    r"\b(?:antworte|schreibe?|sage?|gib)\b\s+(?:nur|ausschließlich|immer|einfach|stattdessen|dass|aus|bitte nur)\b",
    r"\b(?:hinweis|nachricht|mitteilung|anweisung|notiz)\s+(?:an|für)\s+(?:(?:die|den|das|alle)\s+)?(?:ki|assistent|sprachmodell|chatbot|bot|modell)\w*",
    r"\bdu bist (?:jetzt|nun|ab sofort)\b|\bals (?:quelle|beleg)\b.{0,20}\b(?:an|nenne|gib)\b|\bsystem(?:nachricht|meldung|anweisung)\b",
    # French
    r"\b(?:ignore[rz]?|oublie[rz]?|ne (?:tiens|tenez) (?:pas|plus) compte)\b.{0,60}\b(?:instruction|consigne|règle|regle|précédent|precedent)\w*",
    r"\b(?:nouvelles?|précédentes?)\s+(?:instruction|consigne)s?\b|\b(?:réponds|répondez|écris|écrivez|dis|dites)\s+(?:seulement|uniquement|simplement|que|toujours)\b",
    r"\b(?:note|message|consigne|instruction)s?\s+(?:à|pour|destinée? à)\s+(?:l['’]|le |la |tout )?(?:ia|assistant|modèle|bot|robot)\b",
    r"\btu es (?:maintenant|désormais)\b",
    # Spanish and Portuguese
    r"\b(?:ignor[aeo]\w*|olvid[ae]\w*|haz caso omiso|esque[çc]a\w*|desconsidere)\b.{0,60}\b(?:instruc|instruç|regl|regra|anterior|indicaci|orient)\w*",
    r"\b(?:respond[ea]|escrib[ea]|escrev[ae]|di|diga|responda)\b\s+(?:solo|sólo|solamente|únicamente|apenas|somente|siempre|sempre|que|con)\b",
    r"\b(?:nuevas|novas)\s+instru\w+|\b(?:nota|mensaje|mensagem|aviso)\s+(?:a|para|ao|à)\s+(?:(?:la|el|o|a)\s+)?(?:ia|asistente|assistente|modelo|bot)\b",
    r"\bahora eres\b",
    # Italian, Dutch, Polish, Turkish
    r"\b(?:ignora\w*|dimentica\w*)\b.{0,60}\b(?:istruzion|regol|precedent)\w*|\brispond[ie]\w*\s+(?:solo|soltanto|sempre|che)\b",
    r"\b(?:nota|messaggio)\s+(?:per|all['’]|al)\s*(?:l['’])?(?:ia|assistente|modello)\b",
    r"\b(?:negeer|vergeet)\b.{0,60}\b(?:instructie|regel|vorige|eerdere)\w*|\bantwoord\s+(?:alleen|enkel|altijd|slechts|dat)\b",
    r"\b(?:zignoruj|zapomnij)\w*\b.{0,60}\b(?:instrukcj|polece|zasad|poprzedni)\w*|\bodpowi(?:adaj|edz)\s+(?:tylko|wyłącznie|zawsze|że)\b",
    r"(?:talimat|kural|yönerge)\w*.{0,40}(?:yok say|unut|görmezden)\w*|\b(?:sadece|yalnızca)\b.{0,60}\b(?:yanıtla|cevap ver|yaz|söyle)\b",
)
_OTHER = (
    r"(?:игнорир|забуд|не обращай|отмен)\w*.{0,60}(?:инструкц|правил|предыдущ|указани)",
    r"(?:отвечай|ответь|напиши|скажи|пиши)\w*\s+(?:только|лишь|всегда|что|просто)|(?:новые|предыдущие)\s+(?:инструкц|указани)|ты теперь",
    r"(?:сообщение|примечание|указание|инструкция)\s+(?:для|к)\s+(?:ии|ассистент|помощник|модел|бот)",
    r"(?:تجاهل|انس|اهمل|تخط).{0,60}(?:التعليمات|القواعد|السابقة|الأوامر|تعليمات)|(?:أجب|اكتب|قل|رد)\s+(?:فقط|دائما|بأن|أن|ب)|أنت الآن",
    r"(?:ملاحظة|رسالة|تعليمات)\s+(?:إلى|ل)\s*(?:ال)?(?:مساعد|ذكاء|نموذج)|(?:للمساعد|للذكاء|للنموذج)",
    r"(?:忽略|无视|無視|忘记|忘記|忘掉|不要理会|不用理會|跳过).{0,20}(?:指令|指示|规则|規則|提示|说明|說明|之前|以上|先前|前面)",
    r"(?:只|仅|僅|必须|必須|请|請|一律)(?:能|需|要|可)?(?:回答|回复|回覆|答复|输出|輸出|说|說)|你现在是|你現在是|系统(?:提示|指令|消息|信息)|系統(?:提示|指令|訊息)",
    r"(?:致|给|給|请|請)(?:各位)?(?:AI|ai|人工智能|人工智慧|助手|模型|机器人)",
    r"(?:指示|命令|ルール|規則|プロンプト|説明).{0,15}(?:無視|忘れ|破棄|従わな)|(?:とだけ|のみを?|と必ず|とのみ)\s*(?:答え|回答|返答|出力|返信)",
    r"システム(?:プロンプト|メッセージ|指示|命令)|(?:AI|アシスタント|モデル|ボット)(?:への|に対する)(?:指示|注意|お願い|命令|メモ)|あなたは(?:今|これ)から",
    r"(?:지시|지침|명령|규칙|설명).{0,15}(?:무시|잊)|(?:라고|다고)만\s*(?:답|대답|말|응답|출력)|시스템\s*(?:프롬프트|메시지|지시)|(?:AI|어시스턴트|모델)에게",
    r"(?:निर्देश|नियम)\S*.{0,40}(?:अनदेखा|अनदेखी|नज़रअंदाज़|भूल)|केवल\s+.{0,40}(?:उत्तर दें|कहें|लिखें)",
)
_IN_LATIN = re.compile("|".join(_LATIN), re.IGNORECASE | re.DOTALL)
_IN_OTHERS = re.compile("|".join(_OTHER), re.IGNORECASE | re.DOTALL)
_STEMS = (
    *"ignor vergiss vergessen missacht anweisung instruktion nachricht antworte schreib sage gib hinweis mitteilung notiz quelle beleg meldung oublie".split(),
    *"compte consigne instruction répond écri dis dites note message olvid caso esque desconsid respond escrib escrev diga nuevas novas nota".split(),
    *"mensaje mensagem aviso ahora dimentica rispond messaggio negeer vergeet antwoord zignoruj zapomnij odpowi talimat kural yönerge".split(),
    *"sadece yalnızca".split(),
    "du bist",
    "tu es ",
)
"""One of these stands in every order that is looked for in Latin letters: looking for them first is fifty times faster."""

_BEYOND_LATIN = "\u0370"


def orders_elsewhere(sentence: str) -> bool:
    """Whether a sentence gives such an order."""
    lower = sentence.lower()
    if any(stem in lower for stem in _STEMS) and _IN_LATIN.search(sentence):
        return True
    return bool(sentence) and max(sentence) > _BEYOND_LATIN and bool(_IN_OTHERS.search(sentence))
